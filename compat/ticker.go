package compat

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/clock"
)

// Ticker gives a wheel of NewTimingWheelWithTicker its time. A timex.Ticker of go-zero
// implements it.
type Ticker interface {
	Chan() <-chan time.Time
	Stop()
}

// NewTimingWheelWithTicker makes a wheel that takes its time from ticker: each tick received moves the wheel's time by
// one interval, and nothing else moves it. A timer set for k intervals fires at the k-th tick after it was set. A timer
// whose deadline is between two ticks fires at the later one. Tasks run in their own goroutines, at most 4,096 at once.
//
// Stop and Shutdown stop the ticker, and Shutdown waits until it is stopped. If the
// ticker's channel is closed, the wheel stops. The error is not nil if interval or
// numSlots is not positive, or if execute, ticker or its channel is nil.
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

// tickClock is a clock.Clock that moves by one interval with each tick that its goroutine
// receives. The same goroutine rings its alarm. A tickClock serves one wheel and has one
// alarm.
type tickClock struct {
	interval time.Duration
	ticker   Ticker
	elapsed  atomic.Int64 // written by run
	alarm    tickAlarm

	idle     chan struct{} // run receives from idle when it has nothing else to do
	stopped  chan struct{} // closed by stop
	returned chan struct{} // closed when run has returned
	stopOnce sync.Once
}

func newTickClock(interval time.Duration, ticker Ticker) *tickClock {
	c := &tickClock{
		interval: interval, ticker: ticker,
		idle: make(chan struct{}), stopped: make(chan struct{}), returned: make(chan struct{}),
	}
	c.alarm = tickAlarm{clock: c, overdue: make(chan struct{}, 1)}
	return c
}

// run counts ticks until the clock is stopped. It calls onClosed if the ticker's channel
// is closed.
func (c *tickClock) run(onClosed func()) {
	defer close(c.returned)
	ticks := c.ticker.Chan()
	for {
		select { // stopped is checked first, because a fast ticker may always have a tick ready
		case <-c.stopped:
			c.stopTicker()
			return
		default:
		}
		select { // ticks and the alarm come before callers of await, which wait for both
		case _, ok := <-ticks:
			if !c.count(ok, onClosed) {
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
			if !c.count(ok, onClosed) {
				return
			}
		case <-c.alarm.overdue:
			c.alarm.ringIfDue()
		case <-c.idle:
		case <-c.stopped:
		}
	}
}

// count moves the time by one interval, at most to the largest time.Duration, and rings the alarm if it is due. If ok
// is false, the channel is closed: count calls onClosed and returns false.
func (c *tickClock) count(ok bool, onClosed func()) bool {
	if !ok {
		onClosed()
		return false
	}
	e := c.elapsed.Load()
	c.elapsed.Store(e + min(int64(c.interval), math.MaxInt64-e))
	c.alarm.ringIfDue()
	return true
}

// stopTicker stops the ticker, unless the ticker's channel is closed. In that case the owner has already stopped the
// ticker, and a second Stop of a go-zero FakeTicker would panic.
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

// await waits until run has done everything that was to be done when await was called: all ticks received are counted,
// and tasks made due by MoveTimer are dispatched. It also returns when the clock is stopped.
//
// The sender of a tick continues as soon as the tick is received, before it is counted.
// If the sender then sets a timer, the tick must be counted before the timer is set.
//
// await sends on idle twice. Before the first time, run may have looked for ticks just
// before one came, and its last select may choose idle although a tick is ready. run
// looks for ticks again before it receives the second time.
func (c *tickClock) await() {
	for range 2 {
		select {
		case c.idle <- struct{}{}:
		case <-c.stopped:
			return
		}
	}
}

// stop makes run return. It does not wait for run.
func (c *tickClock) stop() { c.stopOnce.Do(func() { close(c.stopped) }) }

// Now returns the wall time.
func (c *tickClock) Now() time.Time { return time.Now() }

// Elapsed returns the time of all ticks counted so far.
func (c *tickClock) Elapsed() time.Duration { return time.Duration(c.elapsed.Load()) }

// Virtual reports that wake-ups cost nothing.
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
	overdue chan struct{} // has an element if the alarm was aimed at a time that has already come

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

// Stop prevents the alarm from ringing until it is aimed again.
func (a *tickAlarm) Stop() {
	a.mu.Lock()
	a.aimed = false
	a.mu.Unlock()
}

// ringIfDue rings the alarm if the time at which it is aimed has come. Only run calls it.
func (a *tickAlarm) ringIfDue() {
	a.mu.Lock()
	due := a.aimed && a.aim <= a.clock.Elapsed()
	a.aimed = a.aimed && !due
	a.mu.Unlock()
	if due {
		a.ring()
	}
}
