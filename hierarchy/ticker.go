package hierarchy

import (
	"sync"
	"time"
)

// Ticker sends on C every period, as a time.Ticker of Go 1.23 and later: ticks
// that nobody receives are dropped, and a receive after Stop or Reset has
// returned never gets a tick of before. Its methods may be called concurrently.
//
// A Ticker ticks until it is stopped, also when nobody refers to it any more. len and
// cap of C are those of a channel of one element; package time's are 0.
type Ticker struct {
	C <-chan time.Time

	wheel    *Wheel
	mu       sync.Mutex // orders ticks, Stop and Reset
	c        chan time.Time
	stopped  bool  // guarded by mu
	first    int64 // guarded by mu; no tick before that time: it was on its way when Reset was called
	repeater *Repeater
}

// NewTicker makes a ticker, which must be stopped when it is no longer needed: the
// wheel holds on to it. The error is ErrArgument if period <= 0, ErrClosed or ErrFull.
func (w *Wheel) NewTicker(period time.Duration) (*Ticker, error) {
	c := make(chan time.Time, 1)
	t := &Ticker{C: c, c: c, wheel: w}
	t.mu.Lock()
	defer t.mu.Unlock()
	r, err := w.every(period, t.tick, runInWake)
	if err != nil {
		return nil, err
	}
	t.repeater = r
	return t, nil
}

func (t *Ticker) tick() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stopped || t.wheel.core.now() < t.first {
		return
	}
	select {
	case t.c <- t.wheel.core.clock.Now():
	default:
	}
}

// Stop ends the ticks. It does not close C.
func (t *Ticker) Stop() {
	requireMade(t.wheel != nil, "Ticker")
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stopped = true
	t.repeater.Stop()
	t.empty()
}

// Reset makes the ticker tick every period from now on, first after one period.
// It is false, and nothing changed, if the wheel was stopped or period <= 0; a
// ticker that was stopped starts again, unless the wheel is full.
func (t *Ticker) Reset(period time.Duration) bool {
	requireMade(t.wheel != nil, "Ticker")
	t.mu.Lock()
	defer t.mu.Unlock()
	if period <= 0 || t.wheel.core.closed.Load() {
		return false
	}
	t.first = deadlineAfter(t.wheel.core.now(), period)
	if t.stopped || !t.repeater.Reset(period) {
		r, err := t.wheel.every(period, t.tick, runInWake)
		if err != nil {
			return false
		}
		t.repeater, t.stopped = r, false
	}
	t.empty()
	return true
}

// empty takes a tick of before out of C. mu must be held.
func (t *Ticker) empty() {
	select {
	case <-t.c:
	default:
	}
}
