package compat

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/clock"
)

// Ticker is what a wheel takes its time from; go-zero's timex.Ticker is one.
type Ticker interface {
	Chan() <-chan time.Time
	Stop()
}

// NewTimingWheelWithTicker makes a wheel whose time moves by one interval with
// each tick that it receives, and not otherwise. A timer set for k intervals runs
// at the k-th tick from then on, and one set for a time between two ticks at the
// later one. When the ticker's channel is closed, the wheel is stopped. Stop stops
// the ticker. The error is NewTimingWheel's, or that of a nil ticker or channel.
func NewTimingWheelWithTicker(interval time.Duration, numSlots int, execute Execute, ticker Ticker) (*TimingWheel, error) {
	if err := check(interval, numSlots, execute); err != nil {
		return nil, err
	}
	if isNil(ticker) || ticker.Chan() == nil {
		return nil, fmt.Errorf("interval: %v, slots: %d, execute: %p, ticker: %v", interval, numSlots, execute, ticker)
	}
	c := newTickClock(interval, ticker)
	tw, err := newTimingWheel(interval, execute, c)
	if err != nil {
		return nil, err
	}
	tw.ticks = c
	go c.run(tw.Stop)
	return tw, nil
}

// tickClock is a clock whose time moves by one interval with each tick that its
// goroutine receives. That goroutine also rings its alarm: it has one.
type tickClock struct {
	interval time.Duration
	ticker   Ticker
	elapsed  atomic.Int64 // written by run
	alarm    tickAlarm

	settled chan struct{} // run receives from it when it has nothing else to do
	ended   chan struct{} // closed by stop
	ending  sync.Once
}

func newTickClock(interval time.Duration, ticker Ticker) *tickClock {
	c := &tickClock{
		interval: interval, ticker: ticker,
		settled: make(chan struct{}), ended: make(chan struct{}),
	}
	c.alarm = tickAlarm{clock: c, overdue: make(chan struct{}, 1)}
	return c
}

// run counts ticks until the clock is stopped. When they end, it calls exhausted.
func (c *tickClock) run(exhausted func()) {
	ticks := c.ticker.Chan()
	for {
		select { // what is there comes before calls that wait for it; see await
		case _, ok := <-ticks:
			if !c.count(ok, exhausted) {
				return
			}
			continue
		case <-c.alarm.overdue:
			c.alarm.ringIfDue()
			continue
		default:
		}
		select {
		case _, ok := <-ticks:
			if !c.count(ok, exhausted) {
				return
			}
		case <-c.alarm.overdue:
			c.alarm.ringIfDue()
		case <-c.settled:
		case <-c.ended:
			c.stopTicker()
			return
		}
	}
}

// endOfTime is where time stops, one before what a wheel takes for never.
const endOfTime = math.MaxInt64 - 1

// count counts a tick and rings; if the ticks have ended, it is false.
func (c *tickClock) count(ok bool, exhausted func()) bool {
	if !ok {
		exhausted()
		return false
	}
	e := c.elapsed.Load()
	c.elapsed.Store(e + min(int64(c.interval), endOfTime-e))
	c.alarm.ringIfDue()
	return true
}

// stopTicker stops the ticker, unless somebody else has: then its channel is
// closed, and a ticker of go-zero's kind would panic.
func (c *tickClock) stopTicker() {
	select {
	case _, ok := <-c.ticker.Chan():
		if !ok {
			return
		}
	default:
	}
	defer recoverTask()
	c.ticker.Stop()
}

// await returns when run has done all that it had to do before: has counted the
// ticks and handed over the tasks that a move has made due.
//
// A tick is received when its sender goes on, and counted a moment later. Whoever
// sends one and then sets a timer must find it counted. Once is not enough: run
// may have looked for ticks just before there was one, and of two things that
// come next it takes any first. The second time it has looked again.
func (c *tickClock) await() {
	for range 2 {
		select {
		case c.settled <- struct{}{}:
		case <-c.ended:
			return
		}
	}
}

func (c *tickClock) stop() { c.ending.Do(func() { close(c.ended) }) }

// Now is the wall time.
func (c *tickClock) Now() time.Time { return time.Now() }

// Elapsed is the time of all ticks counted.
func (c *tickClock) Elapsed() time.Duration { return time.Duration(c.elapsed.Load()) }

// Virtual tells the wheel that its wake-ups are free.
func (c *tickClock) Virtual() bool { return true }

func (c *tickClock) String() string { return fmt.Sprintf("ticks of %v", c.interval) }

// NewAlarm returns the one alarm. The wheel calls it once, before run begins.
func (c *tickClock) NewAlarm(ring func()) clock.Alarm {
	c.alarm.ring = ring
	return &c.alarm
}

// tickAlarm is the alarm of a tickClock.
type tickAlarm struct {
	clock   *tickClock
	ring    func()
	overdue chan struct{} // holds an element when the aim may have passed already

	mu    sync.Mutex
	aimed bool // guarded by mu
	aim   time.Duration
}

// Set aims the alarm.
func (a *tickAlarm) Set(elapsed time.Duration) {
	a.mu.Lock()
	a.aimed, a.aim = true, elapsed
	a.mu.Unlock()
	if elapsed <= a.clock.Elapsed() {
		select {
		case a.overdue <- struct{}{}:
		default:
		}
	}
}

// Stop takes the aim away.
func (a *tickAlarm) Stop() {
	a.mu.Lock()
	a.aimed = false
	a.mu.Unlock()
}

// ringIfDue rings if the aim has passed. Only run calls it.
func (a *tickAlarm) ringIfDue() {
	a.mu.Lock()
	due := a.aimed && a.aim <= a.clock.Elapsed()
	a.aimed = a.aimed && !due
	a.mu.Unlock()
	if due {
		a.ring()
	}
}
