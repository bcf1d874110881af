package hierarchy

import "context"

// kinKey is the key under which a context finds the nearest of ours.
type kinKey struct{}

// look finds out what c depends on. It returns the parent's hub, if there is one.
func (c *timeoutContext) look() *hub {
	if p, ok := c.parent.(*timeoutContext); ok {
		c.kin, c.relation = p, relation{ends: true, direct: true, watched: p.watched}
		return nil
	}
	done := c.parent.Done()
	if done == nil {
		return nil
	}
	c.ends = true
	id := parentID(done)
	slot := hubSlotOf(id)
	if h := slot.find(done); h != nil {
		c.kin, c.watched = h.kin, true
		return h
	}
	if c.parent.Err() != nil {
		return nil // contexts that have ended may have a Done in common
	}
	c.kin, _ = c.parent.Value(kinKey{}).(*timeoutContext)
	if c.kin != nil && c.kin.Done() == done {
		c.direct, c.watched = true, c.kin.watched
		return nil
	}
	canceller := cancellerOf(c.parent, done)
	if canceller == nil {
		return nil
	}
	c.watched = true
	return slot.meet(id, canceller, c.kin)
}

// cancellerOf is the context of package context by which parent, whose Done is done,
// is cancelled, and with it what package context makes below parent. It is nil if
// parent is of a foreign type that ends by itself.
func cancellerOf(parent context.Context, done <-chan struct{}) context.Context {
	if p, ok := parent.Value(cancelCtxKey).(context.Context); ok && p.Done() == done {
		return p
	}
	return nil
}

// cancelCtxKey is the key under which package context finds the nearest context
// that it can attach a child to, and under which Cause finds the cause. It is not
// exported, but every parent is asked for it.
var cancelCtxKey = func() any {
	p := &asked{Context: context.Background()}
	child, cancel := context.WithCancel(p)
	defer cancel()
	if p.key != nil && child.Value(p.key) == any(child) {
		return p.key
	}
	return new(int) // package context has changed: nobody asks for this one
}()

// asked is a parent that notes the key it is asked for.
type asked struct {
	context.Context
	key any
}

func (p *asked) Done() <-chan struct{} { return endless }

func (p *asked) Value(key any) any {
	p.key = key
	return nil
}

// AfterFunc keeps package context from waiting in a goroutine.
func (p *asked) AfterFunc(func()) (stop func() bool) { return func() bool { return true } }
