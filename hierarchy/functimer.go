package hierarchy

import (
	"context"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/internal/engine"
	"github.com/epicycle-go/epicycle/level/arena"
)

// FuncTimer is a timer with a function of its own, which can be set any number of times, even after it has fired, like
// the result of time.AfterFunc. It has a place under MaxPending only while it is pending, and only then does the wheel
// refer to it. If there is no free place, Reset takes one beyond the limit rather than fail. Its methods may be called
// concurrently, also inside the function. NewFunc makes a FuncTimer; the methods of a zero FuncTimer panic.
type FuncTimer struct {
	shard *engine.Shard[func()] // immutable, as the next three
	f     func()
	ask   func() // the value of the timer; see engine.AskFirst
	run   func() // the function that the executor calls

	generation uint64        // guarded by the shard's lock, as all below
	idle       chan struct{} // nil, or closed when runs becomes 0
	index      uint32
	runs       int32 // number of runs that were dispatched and have not returned
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
	s := w.core.LockAny()
	s.Sequence++ // so that LockAny samples as often as for other timers
	s.Mu.Unlock()
	t := &FuncTimer{shard: s, f: f}
	t.ask, t.run = t.fire, t.call
	return t, nil
}

// Reset makes the timer due after d, or at once if d <= 0 (see Wheel.AfterFunc), even if it has fired or was stopped,
// or was never set. It reports whether the timer was pending, like the Reset of time.Timer. Once the wheel is stopped,
// Reset returns false and sets nothing. If Reset is called while f runs, f runs again, possibly at the same time. It
// costs as much as Timer.Reset, and no allocation.
func (t *FuncTimer) Reset(d time.Duration) bool {
	engine.RequireMade(t.shard != nil, "FuncTimer")
	s := t.shard
	now := s.Core.Now()
	if d <= 0 {
		return t.resetToNow(now)
	}
	deadline := engine.DeadlineAfter(now, d)
	s.Mu.Lock()
	n := s.Lookup(t.index, t.generation)
	if n == nil {
		return t.set(now, deadline)
	}
	s.Counts.Moved++
	s.UnlockFor(s.Move(t.index, n, now, deadline))
	return true
}

// set sets the timer, which must not be set, and returns false. The shard's lock must be held, and is unlocked.
func (t *FuncTimer) set(now, deadline int64) bool {
	s := t.shard
	if s.Closed {
		s.Mu.Unlock()
		return false
	}
	s.Core.Force() // Reset has no error to report that the wheel is full
	wakeAt := int64(0)
	t.index, t.generation, wakeAt = s.Set(t.ask, now, deadline, engine.AskFirst)
	if deadline <= now {
		s.UnlockDue(now)
	} else {
		s.UnlockFor(wakeAt)
	}
	return false
}

// resetToNow is Reset to a deadline that has passed.
func (t *FuncTimer) resetToNow(now int64) bool {
	s := t.shard
	s.Mu.Lock()
	n := s.Lookup(t.index, t.generation)
	switch {
	case s.Core.Direct() && !s.Closed:
		return t.fireNow(n)
	case n == nil:
		return t.set(now, now)
	}
	s.Counts.Moved++
	s.Move(t.index, n, now, now)
	s.UnlockDue(now)
	return true
}

// fireNow fires the timer within the call. n is its node, or nil if it is not set. The shard's lock must be held, and
// is unlocked.
func (t *FuncTimer) fireNow(n *arena.Node) bool {
	s := t.shard
	if n != nil {
		s.Counts.Moved++
		s.EndOwned(t.index, n)
	}
	t.runs++
	s.Sequence++
	s.Book(0)
	s.Mu.Unlock()
	s.Core.Submit(t.run)
	return n != nil
}

// Stop stops the timer, and reports whether it was pending. If it was not, f was dispatched, or the timer was not set,
// or was dropped with its wheel. Stop does not wait for a running f.
func (t *FuncTimer) Stop() bool {
	engine.RequireMade(t.shard != nil, "FuncTimer")
	s := t.shard
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return s.StopOwned(t.index, t.generation)
}

// StopWait stops the timer, and waits until every f that was dispatched has returned. When it returns nil, the timer is
// not set and f does not run, even if f itself has set the timer meanwhile. It returns ctx's error if ctx is done
// first. If f calls StopWait, that call also waits for f itself, so it returns only when ctx is done.
func (t *FuncTimer) StopWait(ctx context.Context) error {
	engine.RequireContext(ctx, "StopWait")
	engine.RequireMade(t.shard != nil, "FuncTimer")
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
	s := t.shard
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.StopOwned(t.index, t.generation)
	if s.Core.Settled() {
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

// fire is called before the timer fires, with the shard's lock held. From then on f counts as running, so at every
// moment the timer is pending or running until f returns.
func (t *FuncTimer) fire() {
	if t.shard.Answer.Early {
		return
	}
	t.runs++
	t.shard.Answer = engine.Answer[func()]{Run: &t.run}
}

// call is the task that the executor runs.
func (t *FuncTimer) call() {
	defer t.returned()
	t.f()
}

// returned records that a run has returned.
func (t *FuncTimer) returned() {
	s := t.shard
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if t.runs--; t.runs == 0 && t.idle != nil {
		close(t.idle)
		t.idle = nil
	}
}
