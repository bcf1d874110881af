package compat

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/clock"
)

// Ticker is what a wheel of NewTimingWheelWithTicker takes its time from. A
// timex.Ticker of go-zero is one.
type Ticker interface {
	Chan() <-chan time.Time
	Stop()
}

// NewTimingWheelWithTicker makes a wheel that takes its time from ticker: each tick
// received moves it by one interval, and nothing else does. A timer set for k intervals
// runs at the k-th tick from then on; one set for a time between two ticks runs at the
// later of them. Tasks run in goroutines of their own, at most 4,096 at once.
//
// Stop and Shutdown stop the ticker, Shutdown waits for that. If the ticker's channel
// is closed, the wheel stops. The error is not nil if interval or numSlots is not
// positive, or execute, ticker or its channel is nil.
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

// tickClock is a clock.Clock that moves by one interval with each tick its goroutine
// receives. The same goroutine rings its alarm. There is one alarm, as there is one
// wheel.
type tickClock struct {
	interval time.Duration
	ticker   Ticker
	elapsed  atomic.Int64 // written by run
	alarm    tickAlarm

	settled  chan struct{} // run receives from it when it has nothing else to do
	ended    chan struct{} // closed by stop
	returned chan struct{} // closed when run has returned
	ending   sync.Once
}

func newTickClock(interval time.Duration, ticker Ticker) *tickClock {
	c := &tickClock{
		interval: interval, ticker: ticker,
		settled: make(chan struct{}), ended: make(chan struct{}), returned: make(chan struct{}),
	}
	c.alarm = tickAlarm{clock: c, overdue: make(chan struct{}, 1)}
	return c
}

// run counts ticks until the clock is stopped. It calls exhausted if the ticker's
// channel is closed before.
func (c *tickClock) run(exhausted func()) {
	defer close(c.returned)
	ticks := c.ticker.Chan()
	for {
		select { // first: a ticker that is fast enough always has a tick ready
		case <-c.ended:
			c.stopTicker()
			return
		default:
		}
		select { // ticks and the alarm come before callers that wait for them: see await
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
		}
	}
}

// count moves the time by one interval, at most to the largest there is, and rings the
// alarm if it is due. If ok is false, the channel is closed: count calls exhausted and
// returns false.
func (c *tickClock) count(ok bool, exhausted func()) bool {
	if !ok {
		exhausted()
		return false
	}
	e := c.elapsed.Load()
	c.elapsed.Store(e + min(int64(c.interval), math.MaxInt64-e))
	c.alarm.ringIfDue()
	return true
}

// stopTicker stops the ticker, unless its channel is closed. Then its owner has
// stopped it already, and a second Stop of a go-zero FakeTicker would panic.
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

// await returns when run has done all it had to do when await was called: all ticks
// received are counted, and tasks made due by MoveTimer are dispatched. It also
// returns when the clock is stopped.
//
// The sender of a tick goes on when the tick is received, a moment before it is
// counted. If it sets a timer next, the tick must be counted before that.
//
// run must be met twice. The first time it may have looked for ticks just before one
// came, and then its last select may choose settled though there is a tick. It looks
// again before the second time.
func (c *tickClock) await() {
	for range 2 {
		select {
		case c.settled <- struct{}{}:
		case <-c.ended:
			return
		}
	}
}

// stop ends run. It does not wait for that.
func (c *tickClock) stop() { c.ending.Do(func() { close(c.ended) }) }

// Now is the wall time.
func (c *tickClock) Now() time.Time { return time.Now() }

// Elapsed is the time of all ticks counted so far.
func (c *tickClock) Elapsed() time.Duration { return time.Duration(c.elapsed.Load()) }

// Virtual tells the wheel that it need not keep wake-ups rare.
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
	overdue chan struct{} // has an element if the alarm was aimed at a time that has come already

	mu    sync.Mutex
	aimed bool          // guarded by mu
	aim   time.Duration // guarded by mu
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

// Stop makes the alarm not ring until it is aimed again.
func (a *tickAlarm) Stop() {
	a.mu.Lock()
	a.aimed = false
	a.mu.Unlock()
}

// ringIfDue rings if the time aimed at has come. Only run calls it.
func (a *tickAlarm) ringIfDue() {
	a.mu.Lock()
	due := a.aimed && a.aim <= a.clock.Elapsed()
	a.aimed = a.aimed && !due
	a.mu.Unlock()
	if due {
		a.ring()
	}
}
