package hierarchy

import "context"

// outcome is the error and the cause of a context that has ended. It is immutable, and
// contexts share it.
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

// newOutcome is the outcome with that error and cause. If cause is nil, err is the cause.
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

// cancelCtx is the carrier, or nil without a type.
func (o *outcome) cancelCtx() any {
	if o.carrier == nil {
		return nil
	}
	return o.carrier
}

// settle ends c if its parent has ended. It returns the outcome of c, or nil if c has not
// ended.
func (c *timeoutContext) settle() *outcome {
	if o := c.ended.Load(); o != nil {
		return o
	}
	o := c.parentOutcome()
	if o != nil {
		if c.tryEnd(o) && c.started.Load() {
			c.timer.Stop()
		}
		o = c.ended.Load()
	}
	return o
}

// parentOutcome is the outcome of the parent, or nil if it has not ended.
func (c *timeoutContext) parentOutcome() *outcome {
	if !c.ends {
		return nil
	}
	if c.direct {
		return c.kin.settle()
	}
	if c.kin != nil && !c.kinOver.Load() && c.kin.settle() != nil {
		c.kin.awaitEnd() // the parent may be a follower that kin has not told yet
		c.kinOver.Store(true)
	}
	if err := c.parent.Err(); err != nil {
		return newOutcome(err, context.Cause(c.parent))
	}
	return nil
}

// end ends c, unless it has ended. When it returns, the followers of c have been told.
func (c *timeoutContext) end(o *outcome) {
	if !c.tryEnd(o) {
		c.awaitEnd()
	}
}

// awaitEnd waits until the followers of c, which has ended, have been told.
func (c *timeoutContext) awaitEnd() {
	c.awaitDone()
	c.ending.Lock()
	defer c.ending.Unlock()
}

// awaitDone waits until the Done of c, which has ended, is closed.
func (c *timeoutContext) awaitDone() {
	if c.asked.Load() {
		<-c.theirs.Done()
	}
}

// tryEnd ends c and tells its followers. It reports false if c had ended before.
//
// The outcome is set before Done is closed, so that Err is never nil after that. Done is
// closed before the followers are told, because they call Err, which waits for Done.
func (c *timeoutContext) tryEnd(o *outcome) bool {
	c.mu.Lock()
	if c.ended.Load() != nil {
		c.mu.Unlock()
		return false
	}
	c.over = true
	if end := c.endTheirs; c.first == nil && (end == nil || c.watched) {
		c.ended.Store(o)
		c.mu.Unlock()
		if end != nil {
			end()
		}
	} else {
		c.endBelow(o)
	}
	if c.started.Load() {
		c.leave()
	}
	return true
}

// endBelow is the part of tryEnd for a c with followers or a family: others must be able
// to wait until all of these have been told. mu must be held, and is unlocked.
func (c *timeoutContext) endBelow(o *outcome) {
	c.ending.Lock() // does not wait: others take it only after c has ended
	defer c.ending.Unlock()
	c.ended.Store(o)
	end := c.endTheirs
	c.mu.Unlock()
	if end != nil {
		end()
	}
	c.tell()
}

// follow has cancel called when the parent ends, by h if that is not nil. unhook, if it is
// not nil, stops that.
func (c *timeoutContext) follow(h *hub, cancel func()) (unhook func() bool) {
	c.place.told = cancel
	switch {
	case !c.ends:
	case c.direct:
		if !c.kin.add(&c.place) {
			c.settle()
		}
	case h != nil && c.join(h):
	default:
		return context.AfterFunc(c.parent, cancel)
	}
	return nil
}

// leave undoes follow. It may be called twice.
func (c *timeoutContext) leave() {
	switch {
	case c.unhook != nil:
		c.unhook()
	case c.hub != nil:
		c.hub.leave(&c.place)
	case c.direct:
		c.kin.remove(&c.place)
	}
}
