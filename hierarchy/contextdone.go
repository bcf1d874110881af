package hierarchy

import (
	"context"
	"time"
)

// A context of package context ends with DeadlineExceeded only at a deadline of its own, or
// when its parent does. Other code can only cancel it. And while package context cancels a
// context, it calls no code of ours: it only closes channels. So there are two kinds of
// contexts whose Done a timeoutContext uses. docs/design.md says why one does not suffice.
//
// A family is a cancel context below a parent of ours, which ends the family with any
// error. Package context attaches children to it, those of values included.
//
// A watch is a cancel context below the real parent. Its Done is closed in the call that
// cancels the parent. At our deadline it can only be cancelled, so no child may be attached
// to it. Children register with AfterFunc.

// makeTheirs sets theirs, if it is not set.
func (c *timeoutContext) makeTheirs() {
	watch, release := c.newWatch() // calls methods of the parent, so no lock is held
	if !c.noteTheirs(watch, release) && release != nil {
		release()
	}
}

// noteTheirs reports whether it uses watch, which may be nil.
func (c *timeoutContext) noteTheirs(watch context.Context, release func()) (watches bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.theirs != nil:
		return false
	case c.ended.Load() != nil:
		c.theirs = stopped.carrier // only its Done is used, which is closed
	case watch != nil:
		c.theirs, c.endTheirs, watches = watch, release, true
	default:
		family, cancel := context.WithCancel((*familyParent)(c))
		_ = cancel // endTheirs, which WithCancel has set, ends the family
		c.theirs = family
	}
	c.asked.Store(true)
	return watches
}

// newWatch makes a watch. It returns nil if c needs none.
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

// familyParent is a timeoutContext as the parent of its family. Its Done belongs to no
// context of package context, so package context calls its AfterFunc. The function it
// passes ends the family, with the error and the cause of the familyParent.
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

// AfterFunc is called once, by context.WithCancel in noteTheirs, with mu held.
func (p *familyParent) AfterFunc(f func()) (stop func() bool) {
	p.endTheirs = f
	return func() bool { return true }
}

// cancelCtx is the value of cancelCtxKey. Before c ends that is the family, if there is
// one, to which package context attaches children. Afterwards it is a context with the
// cause of c.
func (c *timeoutContext) cancelCtx() any {
	if o := c.settle(); o != nil {
		return o.cancelCtx()
	}
	if c.watched || !c.asked.Load() {
		return nil
	}
	return c.theirs
}
