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

	core   *engine.Core[func()] // immutable, like run
	run    func()               // the function that the wheel calls
	mu     sync.Mutex
	c      chan time.Time
	timer  engine.Owned[func()] // guarded by mu, as all below
	due    int64                // deadline of the timer
	unsent bool                 // whether the timer was set, and has neither sent nor been stopped since
	stale  bool                 // the wheel is about to call run for a timer that was stopped or reset meanwhile
	placed bool                 // whether the timer has a place under MaxPending
}

// NewTimer makes a timer that fires after d. If d <= 0, the timer fires before NewTimer returns. On a mock, it fires in
// the next Add. The error is ErrClosed or ErrFull.
func (w *Wheel) NewTimer(d time.Duration) (*ChanTimer, error) {
	if err := w.core.Admit(engine.RunInWake); err != nil {
		return nil, err
	}
	c := make(chan time.Time, 1)
	t := &ChanTimer{C: c, c: c, core: w.core, placed: true}
	t.run = t.send
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.set(d, true) {
		return nil, ErrClosed
	}
	return t, nil
}

// set sets the timer, for the first time or again, and reports false if the wheel is stopped. mu must be held.
func (t *ChanTimer) set(d time.Duration, first bool) bool {
	now := t.core.Now()
	t.due = engine.DeadlineAfter(now, d)
	switch passed := t.core.Passed(now, d); {
	case passed:
		if first {
			t.timer.Init(t.core, t.answer, engine.RunInWake)
		}
		if t.core.CountDue() != nil {
			return false
		}
		t.deliver()
		return true
	case first:
		t.unsent = t.timer.InitSet(t.core, t.answer, engine.RunInWake, now, t.due)
	default:
		_, t.unsent = t.timer.Set(now, t.due)
	}
	return t.unsent
}

// answer answers the wheel, see engine.Owned.
func (t *ChanTimer) answer() { t.timer.Fire(&t.run) }

// send is called by the wheel when the timer has fired.
func (t *ChanTimer) send() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stale {
		t.stale = false
		return
	}
	t.deliver()
}

// deliver sends the wall time of the deadline. mu must be held.
func (t *ChanTimer) deliver() {
	t.unsent = false
	select {
	case t.c <- t.core.WallAt(t.due):
	default:
	}
}

// Stop stops the timer, and reports whether it was pending. A value that it has sent and nobody has received is
// discarded.
func (t *ChanTimer) Stop() bool {
	engine.RequireMade(t.core != nil, "ChanTimer")
	t.mu.Lock()
	defer t.mu.Unlock()
	was := t.halt()
	if t.placed {
		t.placed = false
		t.core.GiveBack()
	}
	return was
}

// Reset makes the timer fire after d, or at once if d <= 0, as NewTimer does, even if it has fired or was stopped. It
// reports whether the timer was pending, as Stop does. Once the wheel is stopped, Reset returns false and sets nothing.
func (t *ChanTimer) Reset(d time.Duration) bool {
	engine.RequireMade(t.core != nil, "ChanTimer")
	t.mu.Lock()
	defer t.mu.Unlock()
	was := t.halt()
	if t.core.Closed() {
		return false
	}
	if !t.placed {
		t.placed = true
		t.core.Force() // Reset has no error to report that the wheel is full
	}
	return t.set(d, false) && was
}

// halt stops the timer and removes the value that it has sent. mu must be held.
func (t *ChanTimer) halt() bool {
	was := t.timer.Stop()
	if t.unsent && !was { // send waits for mu, or the timer was dropped with its wheel
		t.stale = true
		was = !t.core.Closed()
	}
	t.unsent = false
	select {
	case <-t.c:
		was = true
	default:
	}
	return was
}
