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
	send := func() { c <- w.core.WallAt(due) }
	var err error
	if w.core.Passed(now, d) {
		err = w.core.CallNow(send)
	} else {
		_, err = w.core.Add(send, now, d, engine.RunInWake)
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
}

// NewTimer makes a timer that fires after d. If d <= 0, the timer fires before NewTimer returns. On a mock, it fires in
// the next Add. The error is ErrClosed or ErrFull.
func (w *Wheel) NewTimer(d time.Duration) (*ChanTimer, error) {
	c, now := make(chan time.Time, 1), w.core.Now()
	t := &ChanTimer{C: c, c: c, core: w.core, due: engine.DeadlineAfter(now, d)}
	t.run = t.send
	t.mu.Lock()
	defer t.mu.Unlock()
	if w.core.Passed(now, d) {
		if err := t.timer.InitPassed(w.core, t.answer, chanFlags); err != nil {
			return nil, err
		}
		t.deliver()
		return t, nil
	}
	t.unsent = true
	if err := t.timer.InitSet(w.core, t.answer, chanFlags, now, t.due); err != nil {
		return nil, err
	}
	return t, nil
}

// chanFlags: a ChanTimer keeps its place even if its value was sent, until it is stopped.
const chanFlags = engine.RunInWake | engine.KeepsPlace

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
	return t.halted(t.timer.Stop())
}

// Reset makes the timer fire after d, or at once if d <= 0, as NewTimer does, even if it has fired or was stopped. It
// reports whether the timer was pending, as Stop does. Once the wheel is stopped, Reset returns false and sets nothing.
func (t *ChanTimer) Reset(d time.Duration) bool {
	engine.RequireMade(t.core != nil, "ChanTimer")
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.core.Now()
	due, passed := engine.DeadlineAfter(now, d), t.core.Passed(now, d)
	var was, ok bool
	if passed {
		was, ok = t.timer.SetPassed()
	} else {
		was, ok = t.timer.Set(now, due)
	}
	was = t.halted(was)
	if !ok {
		return false
	}
	t.due, t.unsent = due, !passed
	if passed {
		t.deliver()
	}
	return was
}

// halted removes the value that t has sent, after its timer was stopped or set again. It reports whether t was pending,
// where was is whether the timer was. mu must be held.
func (t *ChanTimer) halted(was bool) bool {
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
