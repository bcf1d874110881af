package hierarchy

import (
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/internal/engine"
)

// After returns a channel that receives, after d, the wall time at which it was due. If d <= 0, or d has passed before
// the timer is set, the channel receives that time before After returns. On a mock, it receives the time in the next
// Add. The error is ErrClosed or ErrFull. Use NewTimer for a timer that can be stopped.
func (w *Wheel) After(d time.Duration) (<-chan time.Time, error) {
	c, now := make(chan time.Time, 1), w.core.Now()
	due := engine.DeadlineAfter(now, d)
	var err error
	if w.core.Passed(now, d) {
		if err = w.core.CountDue(); err == nil {
			c <- w.core.WallAt(due)
		}
	} else {
		_, err = w.core.Add(func() { c <- w.core.WallAt(due) }, now, d, engine.RunInWake)
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// ChanTimer sends on C the wall time at which it was due, as a time.Timer of Go 1.23 and later does. After Stop or
// Reset has returned, no value that was sent before is received. Stop and Reset treat the timer as pending until its
// value is received. The timer keeps its place under MaxPending until it is stopped. Its methods may be called
// concurrently. Unlike the channels of package time, C has a capacity of 1: cap(C) is 1, and len(C) may be 1. Nor is C
// lazy: the wheel sends when it gets a processor. A loop that keeps all processors busy and looks at C from time to time
// should use a Timer of compat/time, which is the runtime's. The same is true of a Ticker.
type ChanTimer struct {
	C <-chan time.Time

	wheel  *Wheel
	mu     sync.Mutex
	c      chan time.Time
	timer  engine.Handle // guarded by mu, as all below
	run    uint64        // changes with each Stop and Reset, so that an earlier firing sends nothing
	unsent bool          // whether the timer was set, and has neither sent nor been stopped since
	placed bool          // whether the timer has a place under MaxPending
}

// NewTimer makes a timer that fires after d. If d <= 0, the timer fires before NewTimer returns. On a mock, it fires in
// the next Add. The error is ErrClosed or ErrFull.
func (w *Wheel) NewTimer(d time.Duration) (*ChanTimer, error) {
	c := make(chan time.Time, 1)
	t := &ChanTimer{C: c, c: c, wheel: w}
	if w.core.Closed() {
		return nil, ErrClosed
	}
	if !w.core.Reserve() {
		return nil, ErrFull
	}
	t.placed = true
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.set(d); err != nil {
		w.core.GiveBack()
		return nil, err
	}
	return t, nil
}

// set sets a new timer. mu must be held.
func (t *ChanTimer) set(d time.Duration) (err error) {
	now := t.wheel.core.Now()
	due := engine.DeadlineAfter(now, d)
	if t.wheel.core.Passed(now, d) {
		if err = t.wheel.core.CountDue(); err == nil {
			t.deliver(due)
		}
		return err
	}
	run := t.run
	t.timer, err = t.wheel.core.Add(func() { t.send(run, due) }, now, d, engine.RunInWake|engine.NoQuota)
	t.unsent = err == nil
	return err
}

// send is called by the wheel when the timer is due, at due.
func (t *ChanTimer) send(run uint64, due int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if run == t.run {
		t.deliver(due)
	}
}

// deliver sends the wall time of due, an elapsed time. mu must be held.
func (t *ChanTimer) deliver(due int64) {
	t.unsent = false
	select {
	case t.c <- t.wheel.core.WallAt(due):
	default:
	}
}

// Stop stops the timer, and reports whether it was pending. A value that it has sent and nobody has received is
// discarded.
func (t *ChanTimer) Stop() bool {
	engine.RequireMade(t.wheel != nil, "ChanTimer")
	t.mu.Lock()
	defer t.mu.Unlock()
	was := t.halt()
	if t.placed {
		t.placed = false
		t.wheel.core.GiveBack()
	}
	return was
}

// Reset makes the timer fire after d, or at once if d <= 0, as NewTimer does, even if it has fired or was stopped. It
// reports whether the timer was pending, as Stop does. Once the wheel is stopped, Reset returns false and sets nothing.
func (t *ChanTimer) Reset(d time.Duration) bool {
	engine.RequireMade(t.wheel != nil, "ChanTimer")
	t.mu.Lock()
	defer t.mu.Unlock()
	was := t.halt()
	if t.wheel.core.Closed() {
		return false
	}
	if !t.placed {
		t.placed = true
		t.wheel.core.Force() // Reset has no error to report that the wheel is full
	}
	return t.set(d) == nil && was
}

// halt stops the timer and removes the value that it has sent. mu must be held.
func (t *ChanTimer) halt() bool {
	t.run++
	// A timer that is unsent and can't be stopped is about to send, or was dropped with
	// its wheel.
	was := t.timer.Stop() || t.unsent && !t.wheel.core.Closed()
	t.unsent = false
	select {
	case <-t.c:
		was = true
	default:
	}
	return was
}
