package hierarchy

import (
	"context"
	"time"
)

// Package context lets a context end with DeadlineExceeded only when a deadline
// of its own has come, or with its parent; from outside it can only be cancelled.
// And nothing of ours is called in the call in which package context cancels a
// context; only channels are closed. So there are two kinds of Done.
//
// A family is a cancel context of package context's below a parent of ours, which
// ends it with an error of our choice. Children, also of values, attach
// themselves to it as they do to any other.
//
// A watch is a cancel context of package context's below the real parent. Its Done
// is closed in the call that cancels the parent. No child may attach itself to it:
// when the deadline comes, it can only be cancelled. So children register
// themselves by AfterFunc.

// makeTheirs makes the context whose Done is that of c, unless somebody has.
func (c *timeoutContext) makeTheirs() {
	watch, release := c.newWatch() // asks parents, so without a lock
	if !c.noteTheirs(watch, release) && release != nil {
		release()
	}
}

// noteTheirs tells whether it uses watch.
func (c *timeoutContext) noteTheirs(watch context.Context, release func()) (watches bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.theirs != nil:
		return false
	case c.ended.Load() != nil:
		c.theirs = stopped.carrier // is done, as any other that has ended
	case watch != nil:
		c.theirs, c.endTheirs, watches = watch, release, true
	default:
		family, cancel := context.WithCancel((*familyParent)(c))
		_ = cancel // endTheirs does what it would
		c.theirs = family
	}
	c.asked.Store(true)
	return watches
}

// newWatch makes a watch, or returns nil if c needs none.
func (c *timeoutContext) newWatch() (watch context.Context, release func()) {
	switch {
	case !c.watched:
		return nil, nil
	case c.direct:
		c.kin.Done()
		return context.WithCancel(c.kin.theirs)
	case c.hub != nil:
		return context.WithCancel(c.hub.parent)
	}
	return context.WithCancel(c.parent)
}

// familyParent is a timeoutContext as the parent of its family. Its Done is not
// that of a context of theirs, so package context asks it for AfterFunc, and what it
// gives there is what ends the family, with the error and cause of c.
type familyParent timeoutContext

// endless is never closed.
var endless = make(chan struct{})

func (p *familyParent) Done() <-chan struct{} { return endless }

func (p *familyParent) Err() error {
	if o := p.ended.Load(); o != nil {
		return o.err
	}
	return nil
}

func (p *familyParent) Value(key any) any {
	if o := p.ended.Load(); key == cancelCtxKey && o != nil {
		return o.cancelCtx()
	}
	return nil
}

func (p *familyParent) Deadline() (time.Time, bool) { return p.deadline, true }

// AfterFunc is called by context.WithCancel, once, with mu held.
func (p *familyParent) AfterFunc(f func()) (stop func() bool) {
	p.endTheirs = f
	return func() bool { return true }
}

// cancelCtx is the context that package context asks for: the family, so that
// children attach themselves to it, or what has the cause of c.
func (c *timeoutContext) cancelCtx() any {
	if o := c.settle(); o != nil {
		return o.cancelCtx()
	}
	if c.watched || !c.asked.Load() {
		return nil
	}
	return c.theirs
}
