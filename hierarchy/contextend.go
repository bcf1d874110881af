package hierarchy

import "context"

// outcome is how a context has ended. It is immutable, and shared.
type outcome struct {
	err error
	// carrier is what package context looks for when it is asked for the cause: a
	// context of its own that has it. It is nil if the cause is err.
	carrier context.Context
}

var (
	canceled = &outcome{err: context.Canceled}
	expired  = &outcome{err: context.DeadlineExceeded}
	stopped  = newOutcome(context.Canceled, ErrClosed)
)

// newOutcome is the outcome of that error and cause; a nil cause is err.
func newOutcome(err, cause error) *outcome {
	switch { // others may not be comparable
	case err == context.Canceled && (cause == nil || cause == context.Canceled):
		return canceled
	case err == context.DeadlineExceeded && (cause == nil || cause == context.DeadlineExceeded):
		return expired
	}
	carrier, cancel := context.WithCancelCause(context.Background())
	cancel(cause)
	return &outcome{err, carrier}
}

// cancelCtx is what package context finds the cause in, or nil.
func (o *outcome) cancelCtx() any {
	if o.carrier == nil {
		return nil
	}
	return o.carrier
}

// settle ends c if its parent has ended. It returns how c has ended, or nil.
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

// parentOutcome is how the parent of c has ended, or nil.
func (c *timeoutContext) parentOutcome() *outcome {
	if !c.ends {
		return nil
	}
	if c.direct {
		return c.kin.settle()
	}
	if c.kin != nil && !c.kinOver.Load() && c.kin.settle() != nil {
		c.kin.awaitEnd() // it tells parent, perhaps
		c.kinOver.Store(true)
	}
	if err := c.parent.Err(); err != nil {
		return newOutcome(err, context.Cause(c.parent))
	}
	return nil
}

// end ends c. When it returns, c has ended, so or otherwise, and all below it.
func (c *timeoutContext) end(o *outcome) {
	if !c.tryEnd(o) {
		c.awaitEnd()
	}
}

// awaitEnd waits for who ends c, which has ended, to have told all below it.
func (c *timeoutContext) awaitEnd() {
	c.awaitDone()
	c.ending.Lock()
	defer c.ending.Unlock()
}

// awaitDone waits for who ends c, which has ended, to have closed its Done.
func (c *timeoutContext) awaitDone() {
	if c.asked.Load() {
		<-c.theirs.Done()
	}
}

// tryEnd ends c and tells all below it. If c has ended already it is false.
//
// Err and Cause are right before Done is closed, and Done is closed before
// children are told, who ask for Err and Cause.
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

// endBelow ends c, which has been asked for Done or has somebody below it. It unlocks
// mu, which must be held.
func (c *timeoutContext) endBelow(o *outcome) {
	c.ending.Lock() // is free: one waits for it only once c has ended
	defer c.ending.Unlock()
	c.ended.Store(o)
	end := c.endTheirs
	c.mu.Unlock()
	if end != nil {
		end()
	}
	c.tell()
}

// follow has cancel called when the parent of c ends, by h if it is not nil. What it
// returns, if it is not nil, takes that back.
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

// leave ends what follow has begun. It may be called twice.
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
