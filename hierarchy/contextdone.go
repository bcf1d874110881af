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
// error. Package context attaches children to it, also those made from a context.WithValue.
//
// A watch is a cancel context below the real parent. Its Done is closed in the call that
// cancels the parent. At our deadline it can only be cancelled, so no child may be attached
// to it. Children register with AfterFunc.

// makeDoneCtx sets doneCtx, if it is not set.
func (c *timeoutContext) makeDoneCtx() {
	watch, cancel := c.newWatch() // calls methods of the parent, so no lock is held
	if !c.setDoneCtx(watch, cancel) && cancel != nil {
		cancel()
	}
}

// setDoneCtx sets doneCtx, if it is not set, to watch or, if watch is nil, to a family. It
// reports whether it uses watch.
func (c *timeoutContext) setDoneCtx(watch context.Context, cancelWatch func()) (used bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.doneCtx != nil:
		return false
	case c.ended.Load() != nil:
		c.doneCtx = stopped.carrier // only its Done is used, which is closed
	case watch != nil:
		c.doneCtx, c.endDoneCtx, used = watch, cancelWatch, true
	default:
		family, cancel := context.WithCancel((*familyParent)(c))
		_ = cancel // endDoneCtx, which WithCancel has set, ends the family
		c.doneCtx = family
	}
	c.hasDoneCtx.Store(true)
	return used
}

// newWatch makes a watch. It returns nil if c needs none.
func (c *timeoutContext) newWatch() (watch context.Context, cancel func()) {
	switch {
	case !c.needsWatch:
		return nil, nil
	case c.direct:
		c.ancestor.Done()
		return context.WithCancel(c.ancestor.doneCtx)
	case c.notifier != nil:
		return context.WithCancel(c.notifier.parent)
	}
	return context.WithCancel(c.parent)
}

// familyParent is a timeoutContext as the parent of its family. Its Done belongs to no
// context of package context, so package context calls its AfterFunc. The function that is
// passed to AfterFunc ends the family, with the error and the cause of the familyParent.
type familyParent timeoutContext

var neverClosed = make(chan struct{})

func (p *familyParent) Done() <-chan struct{} { return neverClosed }

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

// AfterFunc is called once, by context.WithCancel in setDoneCtx, with mu held.
func (p *familyParent) AfterFunc(f func()) (stop func() bool) {
	p.endDoneCtx = f
	return func() bool { return true }
}

// cancelCtx is the value of cancelCtxKey. Before c ends, it is the family, to which package
// context attaches children, or nil if there is none. Afterwards it is a context with the
// cause of c.
func (c *timeoutContext) cancelCtx() any {
	if o := c.settle(); o != nil {
		return o.cancelCtx()
	}
	if c.needsWatch || !c.hasDoneCtx.Load() {
		return nil
	}
	return c.doneCtx
}
