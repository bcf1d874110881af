package hierarchy

import (
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/internal/engine"
)

// Ticker sends a tick on C every period, as a time.Ticker of Go 1.23 and later does. The value of a tick is the wall
// time at which it was due. A tick that is not received before the next one is dropped. After Stop or Reset has
// returned, no tick from before is received. Its methods may be called concurrently.
//
// A Ticker ticks until it is stopped, even if nothing refers to it any more. Unlike the channels of package time, C has
// a capacity of 1: cap(C) is 1, and len(C) may be 1.
type Ticker struct {
	C <-chan time.Time

	wheel    *Wheel
	mu       sync.Mutex // orders ticks, Stop and Reset
	c        chan time.Time
	stopped  bool  // guarded by mu
	first    int64 // guarded by mu; ticks before this time were dispatched before the last Reset
	repeater *Repeater
}

// NewTicker makes a ticker. Stop it when it is no longer needed: the wheel keeps it alive.
// The error is ErrArgument if period <= 0, ErrClosed or ErrFull.
func (w *Wheel) NewTicker(period time.Duration) (*Ticker, error) {
	c := make(chan time.Time, 1)
	t := &Ticker{C: c, c: c, wheel: w}
	t.mu.Lock()
	defer t.mu.Unlock()
	r, err := w.every(period, t.tick, engine.RunInWake)
	if err != nil {
		return nil, err
	}
	t.repeater = r
	return t, nil
}

func (t *Ticker) tick() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stopped || t.wheel.core.Now() < t.first {
		return
	}
	select {
	case t.c <- t.wheel.core.WallAt(max(t.first, t.repeater.deadline())): // a late tick may be from before Reset
	default:
		t.repeater.notReceived()
	}
}

// Stop ends the ticks, and reports whether the Ticker was ticking. It does not close C.
func (t *Ticker) Stop() bool {
	engine.RequireMade(t.wheel != nil, "Ticker")
	t.mu.Lock()
	defer t.mu.Unlock()
	was := !t.stopped && t.repeater.Stop()
	t.stopped = true
	t.empty()
	return was
}

// Reset makes the ticker tick every period from now on, first after one period. A ticker that was stopped starts again.
// Reset reports whether the ticker continues with that period. If not, nothing has changed: the wheel is stopped, the
// clock's time has ended, or period <= 0.
func (t *Ticker) Reset(period time.Duration) bool {
	engine.RequireMade(t.wheel != nil, "Ticker")
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.reset(period)
}

// reset is Reset with mu held.
func (t *Ticker) reset(period time.Duration) bool {
	now := t.wheel.core.Now()
	if !t.wheel.mayRepeat(now, period) {
		return false
	}
	t.first = engine.DeadlineAfter(now, period)
	if t.stopped {
		t.stopped = !t.repeater.restart(now, period)
		return !t.stopped
	}
	if !t.repeater.Reset(period) {
		return false
	}
	t.empty()
	return true
}

// empty removes an earlier tick from C. mu must be held.
func (t *Ticker) empty() {
	select {
	case <-t.c:
	default:
	}
}
