package wheelclock

import (
	"context"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
)

// extra is a timer or ticker with a channel that was made while the wheel was full. It is built on FuncTimers, because
// only FuncTimers take places beyond MaxPending. So the wheel's executor sends the times on the channel.
type extra struct {
	wheel  *hierarchy.Wheel // immutable, as the next two
	c      chan time.Time
	repeat bool // whether this is a ticker

	mu     sync.Mutex
	timer  *hierarchy.FuncTimer // guarded by mu, as all below; nil until it is set
	run    uint64               // changes with each Stop and Reset, so that an earlier firing sends nothing
	unsent bool                 // whether it was set, and has neither sent nor been stopped since
	period time.Duration        // period of a ticker
	next   time.Time            // time of the next tick of a ticker
}

func (c Clock) newExtra(repeat bool) *extra {
	return &extra{wheel: c.wheel, c: make(chan time.Time, 1), repeat: repeat}
}

func (c Clock) extraTimer(d time.Duration) Timer {
	e := c.newExtra(false)
	e.Reset(d)
	return Timer{e.c, e}
}

// Stop stops the timer or ticker. It returns true if a timer was pending, or had sent a value that was not received.
func (e *extra) Stop() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.halt()
}

// Reset makes a timer fire after d, or a ticker tick every d. It returns what Stop would have returned, and false if
// the wheel is stopped.
func (e *extra) Reset(d time.Duration) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	was := e.halt()
	run := e.run
	t, err := e.wheel.NewFunc(func() { e.fire(run) })
	if err != nil {
		return false
	}
	e.timer, e.unsent = t, true
	if e.repeat {
		e.period, e.next = d, e.wheel.Now().Add(d)
	}
	t.Reset(d)
	return was
}

// halt stops the timer and removes the value that it has sent, if any. mu must be held.
func (e *extra) halt() bool {
	e.run++
	was := e.timer != nil && e.timer.Stop()
	// A timer that is unsent and can't be stopped is about to send, or was dropped with its
	// wheel.
	was = was || e.unsent && !stopped(e.wheel)
	e.unsent = false
	select {
	case <-e.c:
		was = true
	default:
	}
	return was
}

// stopped reports whether w was stopped.
func stopped(w *hierarchy.Wheel) bool { return w.Sleep(context.Background(), 0) != nil }

// fire is the timer's function.
func (e *extra) fire(run uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if run != e.run {
		return
	}
	now := e.wheel.Now()
	select {
	case e.c <- now:
	default: // a tick that was not received before the next one
	}
	e.unsent = false // a ticker does not use unsent
	if e.repeat {
		e.timer.Reset(e.untilNext(now))
	}
}

// untilNext returns the time from now to the next tick. Ticks do not drift, and missed ones are skipped. If the wall
// clock was set, the next tick may come early, but not late. mu must be held.
func (e *extra) untilNext(now time.Time) time.Duration {
	late := now.Sub(e.next) % e.period
	if late < 0 {
		late += e.period
	}
	e.next = now.Add(e.period - late)
	return e.period - late
}
