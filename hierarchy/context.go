package hierarchy

import (
	"context"
	"time"
)

// WithTimeout is context.WithTimeout with the deadline on this wheel. The context is
// done after d (before the call returns if d <= 0, or if d has passed by then), when parent is done, when cancel is
// called, or when the wheel stops. Err and Cause of the context and of its children are
// those of package context: DeadlineExceeded after d. If the wheel is stopped or full, or
// is stopped later, the context is cancelled with the cause ErrClosed or ErrFull. Call
// cancel as soon as the context is no longer needed. cancel may be called several times,
// and concurrently.
//
// When the call that ends the context returns (cancel, Add of a clock.Mock, or the first
// Stop of the wheel), the context and its children are done. Further calls of Stop do not
// wait for the first. When the cancel of a parent returns, Done, Err and Cause of the
// context are right. Children that package context made from this context, and contexts
// made from these children, may then be cancelled a moment later, in a goroutine.
//
// A context costs two allocations. The first Done costs three to five more. The first few
// contexts below a parent that package context can cancel cost two more each.
//
// A context and its children need no goroutine. There are two exceptions, for which package
// context starts a goroutine: a parent of a foreign type without an AfterFunc method; and a
// child made from a context.WithValue of this context, if package context can cancel a
// parent of this context. To avoid the second, add values before the timeout, or with the
// WithValue of compat/context.
func (w *Wheel) WithTimeout(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return w.WithTimeoutCause(parent, d, nil)
}

// WithDeadline is like WithTimeout, with the time from now until t as the delay. Now is the
// clock's wall time.
func (w *Wheel) WithDeadline(parent context.Context, t time.Time) (context.Context, context.CancelFunc) {
	return w.WithDeadlineCause(parent, t, nil)
}

// WithDeadlineCause is like WithDeadline, and also sets the cause of the context at t. The
// returned cancel does not set the cause.
func (w *Wheel) WithDeadlineCause(parent context.Context, t time.Time, cause error) (context.Context, context.CancelFunc) {
	now, elapsed := w.core.reading()
	return w.withDeadline(parent, t, t.Sub(now), elapsed, cause)
}

// WithTimeoutCause is like WithTimeout, and also sets the cause of the context when d has
// passed. The returned cancel does not set the cause.
func (w *Wheel) WithTimeoutCause(parent context.Context, d time.Duration, cause error) (context.Context, context.CancelFunc) {
	now, elapsed := w.core.reading()
	return w.withDeadline(parent, now.Add(d), d, elapsed, cause)
}

// reading returns the wall time and the elapsed time of the wheel's clock. A clock with a
// Reading method is read once, which costs less than reading it twice.
func (c *core[T]) reading() (wall time.Time, elapsed int64) {
	requireMade(c != nil, "wheel")
	if r, ok := c.clock.(interface {
		Reading() (time.Time, time.Duration)
	}); ok {
		now, d := r.Reading()
		return now, int64(d)
	}
	return c.clock.Now(), int64(c.clock.Elapsed())
}

// withDeadline makes a context whose deadline is t in wall time, and d after now in
// elapsed time.
func (w *Wheel) withDeadline(parent context.Context, t time.Time, d time.Duration, now int64, cause error) (context.Context, context.CancelFunc) {
	if parent == nil {
		panic("hierarchy: cannot create context from nil parent")
	}
	if sooner, ok := parent.Deadline(); ok && sooner.Before(t) {
		t = sooner // the parent ends first
	}
	c := &timeoutContext{parent: parent, core: w.core, deadline: t, due: deadlineAfter(now, d)}
	if cause != nil {
		given := cause
		c.cause = &given
	}
	cancel := c.cancel // allocated once: the caller, the wheel and the parent call it
	n := c.inspectParent()
	if c.settle() == nil {
		c.start(d, now, n, cancel)
	}
	return c, cancel
}

// start sets the timer of c, d after now, and has c end when the parent ends, by n if that
// is not nil. Nobody can have added functions or contexts to c yet, so it can end alone.
func (c *timeoutContext) start(d time.Duration, now int64, n *notifier, cancel func()) {
	if d <= 0 || c.core.passed(now, d) { // needs no place on the wheel
		if c.core.over() {
			c.endTree(stopped, nil)
		} else {
			c.endTree(c.deadlineOutcome(), nil)
		}
		return
	}
	c.stopAfterFunc = c.register(n, cancel)
	t, err := c.core.add(cancel, now, d, runInWake|callOnStop)
	if err == nil {
		c.shard, c.generation, c.index = t.shard.(*shard[func()]), t.generation, t.index
	}
	c.started.Store(true)
	if err != nil {
		c.endTree(newOutcome(context.Canceled, err), nil)
	} else if c.ended.Load() != nil {
		c.stopTimer() // c ended before it had a timer
		c.unregister()
	}
}

// cancel is the CancelFunc. The wheel calls it too, at the deadline and when it stops, and
// so does the parent when it ends.
func (c *timeoutContext) cancel() {
	var later callLater
	c.cancelTree(&later)
	later.call()
}

// stopTimer is Stop of the timer.
func (c *timeoutContext) stopTimer() bool {
	return c.shard != nil && c.shard.stop(c.index, c.generation)
}

// timerOutcome is the outcome of c after its timer fired, or was dropped by the wheel's
// Stop.
func (c *timeoutContext) timerOutcome() *outcome {
	if c.core.over() && c.core.now() < c.due {
		return stopped
	}
	return c.deadlineOutcome()
}

// deadlineOutcome is the outcome of c at its deadline.
func (c *timeoutContext) deadlineOutcome() *outcome {
	if c.cause == nil {
		return expired
	}
	return newOutcome(context.DeadlineExceeded, *c.cause)
}
