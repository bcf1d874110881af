package hierarchy

import (
	"sync"
	"time"
)

// After sends the wall time on the returned channel once, after d, or at once if
// d <= 0. The error is
// ErrClosed or ErrFull. A timer that may be taken back is NewTimer's.
func (w *Wheel) After(d time.Duration) (<-chan time.Time, error) {
	c := make(chan time.Time, 1)
	_, err := w.core.add(func() { c <- w.core.clock.Now() }, w.core.now(), d, runInWake)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// ChanTimer sends on C when it fires, as a time.Timer of Go 1.23 and later: a
// receive after Stop or Reset has returned never gets a value of before. Under
// MaxPending it keeps its place until it is stopped, so that Reset never fails
// for want of one. Its methods may be called concurrently. len and cap of C are those
// of a channel of one element; package time's are 0.
type ChanTimer struct {
	C <-chan time.Time

	wheel  *Wheel
	mu     sync.Mutex
	c      chan time.Time
	timer  Timer  // guarded by mu, as all below
	run    uint64 // tells a firing whether Stop or Reset came between
	unsent bool   // set, and neither sent nor stopped
	placed bool   // holds a place
}

// NewTimer makes a timer that fires after d, or at once if d <= 0. The error is
// ErrClosed or ErrFull.
func (w *Wheel) NewTimer(d time.Duration) (*ChanTimer, error) {
	c := make(chan time.Time, 1)
	t := &ChanTimer{C: c, c: c, wheel: w}
	if w.core.over() {
		return nil, ErrClosed
	}
	if !w.core.quota.acquire() {
		return nil, ErrFull
	}
	t.placed = true
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.set(d); err != nil {
		w.core.quota.release(1)
		return nil, err
	}
	return t, nil
}

// set sets a new timer. mu must be held.
func (t *ChanTimer) set(d time.Duration) (err error) {
	run := t.run
	t.timer, err = t.wheel.core.add(func() { t.send(run) }, t.wheel.core.now(), d, runInWake|noQuota)
	t.unsent = err == nil
	return err
}

// send is the timer's callback.
func (t *ChanTimer) send(run uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if run == t.run {
		t.unsent = false
		select {
		case t.c <- t.wheel.core.clock.Now():
		default:
		}
	}
}

// Stop is true if it kept the timer from being received from C: it was pending,
// or had fired and its value was not received.
func (t *ChanTimer) Stop() bool {
	requireMade(t.wheel != nil, "ChanTimer")
	t.mu.Lock()
	defer t.mu.Unlock()
	was := t.halt()
	if t.placed {
		t.placed = false
		t.wheel.core.quota.release(1)
	}
	return was
}

// Reset makes the timer fire after d, counted anew. It is true where Stop would
// have been, and false once the wheel was stopped.
func (t *ChanTimer) Reset(d time.Duration) bool {
	requireMade(t.wheel != nil, "ChanTimer")
	t.mu.Lock()
	defer t.mu.Unlock()
	was := t.halt()
	if t.wheel.core.closed.Load() {
		return false
	}
	if !t.placed {
		t.placed = true
		t.wheel.core.quota.force() // there is no error to say that it is full
	}
	return t.set(d) == nil && was
}

// halt takes the timer back, or the value it has sent. mu must be held.
func (t *ChanTimer) halt() bool {
	t.run++
	// One that is unsent though it can't be stopped is about to be sent, or was
	// dropped with its wheel.
	was := t.timer.Stop() || t.unsent && !t.wheel.core.closed.Load()
	t.unsent = false
	select {
	case <-t.c:
		was = true
	default:
	}
	return was
}
