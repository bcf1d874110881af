package hierarchy

import (
	"context"
	"sync"
	"time"
)

// WithTimeout is context.WithTimeout with the deadline on this wheel: the
// context is done after d, when parent is, when cancel is called, or when the
// wheel stops. Its Err and Cause and those of its children are as with package
// context (DeadlineExceeded after d), and no goroutine waits for any of them.
// On a wheel that is stopped or full, or that stops first, it is cancelled with
// the cause ErrClosed or ErrFull. cancel should be called as soon as the
// context is no longer needed.
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
	return w.withDeadline(parent, w.core.clock.Now().Add(d), d, cause)
}

func (w *Wheel) withDeadline(parent context.Context, t time.Time, d time.Duration, cause error) (context.Context, context.CancelFunc) {
	if parent == nil {
		panic("hierarchy: cannot create context from nil parent")
	}
	if sooner, ok := parent.Deadline(); ok && sooner.Before(t) {
		return context.WithCancel(parent)
	}
	c := newTimeoutContext(parent, t)
	if c.done.Err() != nil {
		return c, c.cancel
	}
	now := int64(w.core.clock.Elapsed())
	if d <= 0 {
		c.end(context.DeadlineExceeded, cause)
		return c, c.cancel
	}
	deadline := deadlineAfter(now, d)
	expire := func() {
		if int64(w.core.clock.Elapsed()) < deadline {
			c.end(context.Canceled, ErrClosed) // told that the wheel stops
			return
		}
		c.end(context.DeadlineExceeded, cause)
	}
	c.mu.Lock() // expire may come before the timer is noted
	timer, err := w.core.addAt(expire, now, deadline, flagDirect|flagTold)
	c.timer = timer
	c.mu.Unlock()
	if err != nil {
		c.end(context.Canceled, err)
	}
	return c, c.cancel
}

// timeoutContext is a context whose end has an error of its own choice, which
// package context lets only its own deadlines have. It is put together so that
// everything else is package context's work:
//
//   - done is a context of theirs under parent. It gives Done, and is cancelled
//     with parent at once.
//   - why is one under done. It gives Value, by which package context finds the
//     Cause. As it is not the context whose Done this is, children do not
//     attach themselves to it, where they would learn its error, Canceled, but
//     ask for AfterFunc, and then for our Err.
type timeoutContext struct {
	done     context.Context
	why      context.Context
	setDone  context.CancelFunc
	setWhy   context.CancelCauseFunc
	deadline time.Time // immutable, as all above

	mu       sync.Mutex
	timer    Timer               // guarded by mu, as all below
	err      error               // nil until end is called first
	children map[*childFunc]bool // what AfterFunc was given
	unhook   func() bool         // takes back the watch on done, once there is a child
}

type childFunc struct{ f func() }

func newTimeoutContext(parent context.Context, deadline time.Time) *timeoutContext {
	c := &timeoutContext{deadline: deadline}
	c.done, c.setDone = context.WithCancel(parent)
	c.why, c.setWhy = context.WithCancelCause(c.done)
	return c
}

func (c *timeoutContext) Deadline() (time.Time, bool) { return c.deadline, true }
func (c *timeoutContext) Done() <-chan struct{}       { return c.done.Done() }
func (c *timeoutContext) Value(key any) any           { return c.why.Value(key) }

// Err is nil until Done is closed.
func (c *timeoutContext) Err() error {
	err := c.done.Err()
	if err == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.err = err // parent's
	}
	return c.err
}

func (c *timeoutContext) String() string {
	return "hierarchy.WithDeadline(" + c.deadline.String() + ")"
}

// AfterFunc has f called when c is done. Package context uses it to attach
// children without a goroutine for each.
func (c *timeoutContext) AfterFunc(f func()) (stop func() bool) {
	child := &childFunc{f}
	c.mu.Lock()
	if c.children == nil {
		c.children = make(map[*childFunc]bool)
		// Only when parent is cancelled: end tells the children itself.
		c.unhook = context.AfterFunc(c.done, c.tell)
	}
	c.children[child] = true
	c.mu.Unlock()
	if c.done.Err() != nil {
		go c.tell() // it may be too late for end to; and f must not run in this call
	}
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		was := c.children[child]
		delete(c.children, child)
		return was
	}
}

// cancel is the CancelFunc.
func (c *timeoutContext) cancel() { c.end(context.Canceled, nil) }

// end ends c with that error and cause, if nothing did before.
func (c *timeoutContext) end(err, cause error) {
	c.mu.Lock()
	first := c.err == nil && c.done.Err() == nil
	if first {
		c.err = err
	}
	timer := c.timer
	c.mu.Unlock()
	timer.Stop()
	if cause == nil {
		cause = err
	}
	if first {
		c.setWhy(cause)
	}
	c.setDone()
	c.tell()
}

// tell calls what AfterFunc was given, each once.
func (c *timeoutContext) tell() {
	c.mu.Lock()
	children, unhook := c.children, c.unhook
	if children != nil {
		c.children = map[*childFunc]bool{}
	}
	c.mu.Unlock()
	if unhook != nil {
		unhook()
	}
	for child := range children {
		child.f()
	}
}
