package hierarchy

import (
	"context"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/internal/engine"
)

// FuncTimer is a timer with a function of its own, which can be set any number of times, even after it has fired, like
// the result of time.AfterFunc. It has a place under MaxPending only while it is pending, and only then does the wheel
// refer to it. If there is no free place, Reset takes one beyond the limit rather than fail. Its methods may be called
// concurrently, also inside the function. NewFunc makes a FuncTimer; the methods of a zero FuncTimer panic.
type FuncTimer struct {
	timer engine.Owned[func()]
	run   func() // immutable; the function that the executor calls

	mu   sync.Mutex    // taken in answer, so that no call that locks the wheel is made with it held
	idle chan struct{} // guarded by mu, like runs; nil, or closed when runs becomes 0
	runs int32         // number of runs that were dispatched and have not returned
}

// NewFunc makes a timer for which the wheel's executor calls f. It is not set yet: call Reset. The error is ErrNilFunc
// or ErrClosed.
func (w *Wheel) NewFunc(f func()) (*FuncTimer, error) {
	if f == nil {
		return nil, ErrNilFunc
	}
	if w.core.Closed() {
		return nil, ErrClosed
	}
	t := &FuncTimer{}
	t.run = func() {
		defer t.returned()
		f()
	}
	t.timer.Init(w.core, t.answer, 0)
	return t, nil
}

// Reset makes the timer due after d, or at once if d <= 0 (see Wheel.AfterFunc), even if it has fired or was stopped,
// or was never set. It reports whether the timer was pending, like the Reset of time.Timer. Once the wheel is stopped,
// Reset returns false and sets nothing. If Reset is called while f runs, f runs again, possibly at the same time. It
// costs as much as Timer.Reset, and no allocation.
func (t *FuncTimer) Reset(d time.Duration) bool {
	now := t.core().Now()
	was, _ := t.timer.Set(now, engine.DeadlineAfter(now, d))
	return was
}

// core returns the wheel of t.
func (t *FuncTimer) core() *engine.Core[func()] {
	c := t.timer.Core()
	engine.RequireMade(c != nil, "FuncTimer")
	return c
}

// Stop stops the timer, and reports whether it was pending. If it was not, f was dispatched, or the timer was not set,
// or was dropped with its wheel. Stop does not wait for a running f.
func (t *FuncTimer) Stop() bool {
	engine.RequireMade(t.timer.Core() != nil, "FuncTimer")
	return t.timer.Stop()
}

// StopWait stops the timer, and waits until every f that was dispatched has returned. When it returns nil, the timer is
// not set and f does not run, even if f itself has set the timer meanwhile. It returns ctx's error if ctx is done
// first. If f calls StopWait, that call also waits for f itself, so it returns only when ctx is done.
func (t *FuncTimer) StopWait(ctx context.Context) error {
	engine.RequireContext(ctx, "StopWait")
	for {
		idle := t.stopped()
		if idle == nil {
			return nil
		}
		select {
		case <-idle:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// stopped stops the timer. It returns nil if f does not run, otherwise a channel that is closed when all runs have
// returned.
func (t *FuncTimer) stopped() <-chan struct{} {
	t.Stop()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.core().Settled() {
		t.runs = 0 // an executor that panicked has lost the other runs
	}
	if t.runs == 0 {
		return nil
	}
	if t.idle == nil {
		t.idle = make(chan struct{})
	}
	return t.idle
}

// answer answers the wheel, see engine.Owned. From then on f counts as running, so at every moment the timer is pending or
// running until f returns.
func (t *FuncTimer) answer() {
	if _, due := t.timer.Asked(); !due {
		return
	}
	t.mu.Lock()
	t.runs++
	t.mu.Unlock()
	t.timer.Fire(&t.run)
}

// returned records that a run has returned.
func (t *FuncTimer) returned() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.runs--; t.runs == 0 && t.idle != nil {
		close(t.idle)
		t.idle = nil
	}
}
