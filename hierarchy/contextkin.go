package hierarchy

import "context"

// kinKey is the key whose value is the nearest timeoutContext.
type kinKey struct{}

// look sets kin and relation. It returns the hub of the parent, or nil.
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
		return nil // contexts that have ended may share a Done, so it does not identify them
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

// cancellerOf returns the context to which package context attaches children of parent. It
// is parent itself, or an ancestor with the same Done. It is nil if parent is of a foreign
// type with a Done of its own.
func cancellerOf(parent context.Context, done <-chan struct{}) context.Context {
	if p, ok := parent.Value(cancelCtxKey).(context.Context); ok && p.Done() == done {
		return p
	}
	return nil
}

// cancelCtxKey is the key with which package context looks for the nearest context to which
// it can attach children, and with which Cause looks for the cause. Package context does
// not export the key, but passes it to the Value method of every parent.
var cancelCtxKey = func() any {
	p := &asked{Context: context.Background()}
	child, cancel := context.WithCancel(p)
	defer cancel()
	if p.key != nil && child.Value(p.key) == any(child) {
		return p.key
	}
	return new(int) // package context has changed. No one else has this key
}()

// asked is a parent that notes the key passed to Value.
type asked struct {
	context.Context
	key any
}

func (p *asked) Done() <-chan struct{} { return endless }

func (p *asked) Value(key any) any {
	p.key = key
	return nil
}

// AfterFunc keeps package context from starting a goroutine.
func (p *asked) AfterFunc(func()) (stop func() bool) { return func() bool { return true } }
