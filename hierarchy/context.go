package hierarchy

import (
	"context"
	"time"
)

// WithTimeout is context.WithTimeout with the deadline on this wheel: the
// context is done after d (before the call returns if d <= 0), when parent is,
// when cancel is called, or when the wheel stops. Err and Cause, its own and its
// children's, are as with package context: DeadlineExceeded after d. On a wheel
// that is stopped or full, or that stops first, the context is cancelled with
// the cause ErrClosed or ErrFull. cancel should be called as soon as the context
// is no longer needed. It may be called several times, and concurrently.
//
// When Add, Stop or cancel has returned, the context and its children are done.
// When a parent's cancel has returned, Done, Err and Cause of the context are
// right, whether or not they were asked before. Only children that package context
// makes below it may follow that parent in a goroutine, a moment later, and so may
// the Done of what is below such a child.
//
// It takes two allocations, and two more below a parent that package context can
// cancel, but for contexts that are made one after the other below the same one. Done
// takes three to five more, once.
//
// Neither the context nor a child needs a goroutine, with two exceptions, in which
// package context waits in one: a parent of a foreign type that has no AfterFunc; and
// a child that it makes of a context.WithValue of this context, if it can cancel a
// parent of this context. Values that are added above WithTimeout avoid that.
func (w *Wheel) WithTimeout(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return w.WithTimeoutCause(parent, d, nil)
}

// WithDeadline is WithTimeout with the delay from the clock's wall time to t.
func (w *Wheel) WithDeadline(parent context.Context, t time.Time) (context.Context, context.CancelFunc) {
	now, elapsed := w.core.reading()
	return w.withDeadline(parent, t, t.Sub(now), elapsed, nil)
}

// WithTimeoutCause is WithTimeout that sets the cause for when d has passed.
// The returned cancel does not set it.
func (w *Wheel) WithTimeoutCause(parent context.Context, d time.Duration, cause error) (context.Context, context.CancelFunc) {
	now, elapsed := w.core.reading()
	return w.withDeadline(parent, now.Add(d), d, elapsed, cause)
}

// reading is the wall time and the elapsed time of the wheel's clock, at one instant
// if the clock can tell them so: that costs less than to read it twice.
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

// withDeadline makes a context that ends at t by the wall clock, which is d after now
// by the wheel's.
func (w *Wheel) withDeadline(parent context.Context, t time.Time, d time.Duration, now int64, cause error) (context.Context, context.CancelFunc) {
	if parent == nil {
		panic("hierarchy: cannot create context from nil parent")
	}
	if sooner, ok := parent.Deadline(); ok && sooner.Before(t) {
		t = sooner // parent will end it
	}
	c := &timeoutContext{parent: parent, core: w.core, deadline: t, due: deadlineAfter(now, d)}
	if cause != nil {
		own := cause
		c.cause = &own
	}
	cancel := c.cancel // one for all who may call it
	h := c.look()
	if c.settle() == nil {
		c.start(d, now, h, cancel)
	}
	return c, cancel
}

// start sets the timer of c, d after now, and has c told of its parent's end, by h if
// it is not nil.
func (c *timeoutContext) start(d time.Duration, now int64, h *hub, cancel func()) {
	if d <= 0 { // needs no place on the wheel
		if c.core.over() {
			c.tryEnd(stopped)
		} else {
			c.tryEnd(c.late())
		}
		return
	}
	var err error
	c.unhook = c.follow(h, cancel)
	c.timer, err = c.core.add(cancel, now, d, runInWake|callOnStop)
	c.started.Store(true)
	if err != nil {
		c.tryEnd(newOutcome(context.Canceled, err))
	} else if c.ended.Load() != nil {
		c.timer.Stop() // who ended it could not
		c.leave()
	}
}

// cancel is the CancelFunc. The wheel calls it too, when the deadline has come or
// the wheel stops, and the parent when it has ended. Where the timer can still be
// stopped it was not the wheel, and the context is cancelled.
func (c *timeoutContext) cancel() {
	switch {
	case c.settle() != nil:
		c.awaitEnd()
	case c.started.Load() && c.timer.Stop():
		c.end(canceled)
	default:
		c.end(c.verdict())
	}
}

// verdict is how c ends when its timer has fired or was dropped.
func (c *timeoutContext) verdict() *outcome {
	if c.core.over() && c.core.now() < c.due {
		return stopped
	}
	return c.late()
}

// late is how c ends when its deadline has come.
func (c *timeoutContext) late() *outcome {
	if c.cause == nil {
		return expired
	}
	return newOutcome(context.DeadlineExceeded, *c.cause)
}
