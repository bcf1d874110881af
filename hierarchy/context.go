package hierarchy

import (
	"context"
	"time"
)

// WithTimeout is context.WithTimeout with the deadline on this wheel: the
// context is done after d (before the call returns if d <= 0), when parent is, when
// cancel is called, or when the wheel stops. Its Err and Cause and those of its children are as with package
// context (DeadlineExceeded after d), and no goroutine waits for any of them,
// unless parent is of a foreign type that package context too can only wait for.
// On a wheel that is stopped or full, or that stops first, it is cancelled with
// the cause ErrClosed or ErrFull. cancel should be called as soon as the
// context is no longer needed.
//
// When Add, Stop or cancel has returned, the context and its children are done.
// When a parent's cancel has returned, the context is; its children follow in a
// moment.
func (w *Wheel) WithTimeout(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return w.WithTimeoutCause(parent, d, nil)
}

// WithDeadline is WithTimeout with the delay from the clock's wall time to t.
func (w *Wheel) WithDeadline(parent context.Context, t time.Time) (context.Context, context.CancelFunc) {
	return w.withDeadline(parent, t, w.until(t), nil)
}

// WithTimeoutCause is WithTimeout that sets the cause for when d has passed.
// The returned cancel does not set it.
func (w *Wheel) WithTimeoutCause(parent context.Context, d time.Duration, cause error) (context.Context, context.CancelFunc) {
	return w.withDeadline(parent, w.core.wall().Add(d), d, cause)
}

func (w *Wheel) withDeadline(parent context.Context, t time.Time, d time.Duration, cause error) (context.Context, context.CancelFunc) {
	if parent == nil {
		panic("hierarchy: cannot create context from nil parent")
	}
	if sooner, ok := parent.Deadline(); ok && sooner.Before(t) {
		t = sooner // parent will end it
	}
	c := newTimeoutContext(parent, t)
	if c.Err() != nil {
		return c, c.cancel
	}
	now := w.core.now()
	deadline := deadlineAfter(now, d)
	expire := func() {
		if w.core.now() < deadline {
			c.end(context.Canceled, ErrClosed) // told that the wheel stops
		} else {
			c.end(context.DeadlineExceeded, cause)
		}
	}
	if d <= 0 { // needs no place on the wheel
		if w.core.closed.Load() {
			c.end(context.Canceled, ErrClosed)
		}
		expire() // does nothing to one that has ended
		return c, c.cancel
	}
	c.mu.Lock() // expire may come before the timer is noted
	timer, err := w.core.add(expire, now, d, runInWake|callOnStop)
	c.timer = timer
	c.mu.Unlock()
	if err != nil {
		c.end(context.Canceled, err)
	}
	c.watch()
	return c, c.cancel
}
