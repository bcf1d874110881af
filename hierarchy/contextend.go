package hierarchy

import "context"

// outcome is the error and the cause of a context that has ended. It is immutable, and may
// be shared by contexts.
type outcome struct {
	err error
	// carrier is a context of package context that has the cause: context.Cause looks for
	// one. It is nil if the cause is err.
	carrier context.Context
}

var (
	canceled = &outcome{err: context.Canceled}
	expired  = &outcome{err: context.DeadlineExceeded}
	stopped  = newOutcome(context.Canceled, ErrClosed)
)

// newOutcome returns the outcome with that error and cause. If cause is nil, err is the
// cause.
func newOutcome(err, cause error) *outcome {
	if cause == nil {
		cause = err
	}
	switch { // other errors may be of a type that can't be compared
	case err == context.Canceled && cause == context.Canceled:
		return canceled
	case err == context.DeadlineExceeded && cause == context.DeadlineExceeded:
		return expired
	}
	carrier, cancel := context.WithCancelCause(context.Background())
	cancel(cause)
	return &outcome{err, carrier}
}

// cancelCtx returns the carrier, or an untyped nil if there is none.
func (o *outcome) cancelCtx() any {
	if o.carrier == nil {
		return nil
	}
	return o.carrier
}

// settle ends c if its parent has ended. It returns the outcome of c, or nil if c has not
// ended.
func (c *timeoutContext) settle() *outcome {
	if o := c.ended.Load(); o != nil || !c.parentCanEnd {
		return o
	}
	var later callLater
	o := c.settleTree(&later)
	later.call()
	return o
}

// settleTree is settle, but adds contexts that end to later if they have functions to call.
// So do all methods with such a parameter. No function is called before all contexts that
// end together have ended.
func (c *timeoutContext) settleTree(later *callLater) *outcome {
	if o := c.ended.Load(); o != nil {
		return o
	}
	o := c.parentOutcome(later)
	if o == nil {
		return nil
	}
	c.endWithParent(o, later)
	return c.ended.Load()
}

// parentOutcome is the outcome of the parent, or nil if it has not ended.
func (c *timeoutContext) parentOutcome(later *callLater) *outcome {
	if !c.parentCanEnd {
		return nil
	}
	if c.direct {
		return c.ancestor.settleTree(later)
	}
	if c.ancestor != nil && !c.ancestorEnded.Load() && c.ancestor.settleTree(later) != nil {
		c.ancestor.awaitEnd() // the parent may be a context that ancestor has not ended yet
		c.ancestorEnded.Store(true)
	}
	if err := c.parent.Err(); err != nil {
		return newOutcome(err, context.Cause(c.parent))
	}
	return nil
}

// cancelTree ends c because it was cancelled, its timer fired, the wheel stopped, or its
// parent ended. If the timer can still be stopped, the wheel is not the caller, and c is
// cancelled. When cancelTree returns, the contexts below c have ended.
func (c *timeoutContext) cancelTree(later *callLater) {
	first := false
	switch {
	case c.settleTree(later) != nil:
	case c.started.Load() && c.stopTimer():
		first = c.endTree(canceled, later)
	default:
		first = c.endTree(c.timerOutcome(), later)
	}
	if !first {
		c.awaitEnd()
	}
}

// awaitEnd waits until Done of c, which has ended, is closed, and the contexts below c have
// ended. It does not wait for the functions of users, which may be the callers.
func (c *timeoutContext) awaitEnd() {
	if c.hasDoneCtx.Load() && c.endDoneCtx != nil {
		c.endDoneCtx() // waits if another goroutine is at it
	}
	c.ending.Lock()
	defer c.ending.Unlock()
}

// awaitDone waits until the Done of c, which has ended, is closed.
func (c *timeoutContext) awaitDone() {
	if c.hasDoneCtx.Load() {
		<-c.doneCtx.Done()
	}
}

// endWithParent is endTree with the outcome of the parent. It stops the timer, too.
func (c *timeoutContext) endWithParent(o *outcome, later *callLater) bool {
	first := c.endTree(o, later)
	if first && c.started.Load() {
		c.stopTimer()
	}
	return first
}

// endTree ends c and the contexts below it. It reports false if c had ended before.
//
// The outcome is set before Done is closed, so that Err is never nil after that. Done is
// closed before the contexts below end, because package context then calls Err, which waits
// for Done.
func (c *timeoutContext) endTree(o *outcome, later *callLater) bool {
	c.mu.Lock()
	if c.ended.Load() != nil {
		c.mu.Unlock()
		return false
	}
	if c.functions != nil {
		*later = append(*later, c)
	}
	if end := c.endDoneCtx; c.contexts == nil {
		c.ended.Store(o)
		c.mu.Unlock()
		if end != nil {
			end()
		}
	} else {
		c.endBelow(o, later)
	}
	if c.started.Load() {
		c.unregister()
	}
	return true
}

// endBelow is the part of endTree for a c with contexts below it: others must be able to wait
// until all of these have ended. mu must be held, and is unlocked.
func (c *timeoutContext) endBelow(o *outcome, later *callLater) {
	c.ending.Lock() // does not wait: others take it only after c has ended
	defer c.ending.Unlock()
	c.ended.Store(o)
	end := c.endDoneCtx
	c.mu.Unlock()
	if end != nil {
		end()
	}
	for l := c.take(&c.contexts); l != nil; l = c.take(&c.contexts) {
		switch {
		case l.child == nil:
			l.call()
		case !l.child.endWithParent(o, later):
			l.child.awaitEnd()
		}
	}
}

// add adds l to list, which is one of those of c. It reports false if c has ended.
func (c *timeoutContext) add(l *listener, list **listener) bool {
	c.mu.Lock()
	added := c.ended.Load() == nil
	if added {
		l.push(list)
	}
	c.mu.Unlock()
	return added
}

// register has c end when the parent ends, by n if that is not nil. If it calls
// context.AfterFunc with cancel for that, it returns the function that stops the AfterFunc.
func (c *timeoutContext) register(n *notifier, cancel func()) (stopAfterFunc func() bool) {
	c.registration.child = c
	switch {
	case !c.parentCanEnd:
	case c.direct:
		if !c.ancestor.add(&c.registration, &c.ancestor.contexts) {
			c.settle()
		}
	case n != nil && c.join(n):
	default:
		return context.AfterFunc(c.parent, cancel)
	}
	return nil
}

// unregister undoes register. It may be called twice.
func (c *timeoutContext) unregister() {
	switch {
	case c.stopAfterFunc != nil:
		c.stopAfterFunc()
	case c.notifier != nil:
		c.notifier.leave(&c.registration)
	case c.direct:
		c.ancestor.remove(&c.registration)
	}
}
