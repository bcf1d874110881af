package hierarchy

import (
	"context"
)

// timeoutContextKey is the key whose value is the nearest timeoutContext.
type timeoutContextKey struct{}

// inspectParent sets the fields that say how c depends on its parent. It returns the
// notifier of the parent, or nil.
func (c *timeoutContext) inspectParent() *notifier {
	if p, ok := c.parent.(*timeoutContext); ok {
		c.ancestor, c.parentCanEnd, c.direct, c.needsWatch = p, true, true, p.needsWatch
		return nil
	}
	done := c.parent.Done()
	if done == nil {
		return nil
	}
	c.parentCanEnd = true
	id := parentID(done)
	entry := notifierEntryOf(id)
	if n := entry.find(id); n != nil {
		c.ancestor, c.needsWatch = n.ancestor, true
		return n
	}
	if c.parent.Err() != nil {
		return nil // contexts that have ended may share a Done, so it does not identify them
	}
	c.ancestor, _ = c.parent.Value(timeoutContextKey{}).(*timeoutContext)
	if c.ancestor != nil && c.ancestor.Done() == done {
		c.direct, c.needsWatch = true, c.ancestor.needsWatch
		return nil
	}
	cancelCtx := parentCancelCtx(c.parent, done)
	if cancelCtx == nil {
		return nil
	}
	c.needsWatch = true
	return entry.count(id, cancelCtx, c.ancestor)
}

// parentCancelCtx returns the context to which package context attaches children of parent.
// It is parent itself, or an ancestor with the same Done. It is nil if parent is of a
// foreign type with a Done of its own.
func parentCancelCtx(parent context.Context, done <-chan struct{}) context.Context {
	if p, ok := parent.Value(cancelCtxKey).(context.Context); ok && p.Done() == done {
		return p
	}
	return nil
}

// Package context does not export these, but passes them to the methods of every parent.
var (
	// cancelCtxKey is the key with which package context looks for the nearest context to
	// which it can attach children, and with which Cause looks for the cause.
	cancelCtxKey any
	// cancelChildCode is the code of the functions that package context passes to the
	// AfterFunc method of a parent. They cancel a child.
	cancelChildCode uintptr
)

func init() {
	r := &recorder{Context: context.Background(), key: new(int)}
	child, cancel := context.WithCancel(r)
	defer cancel()
	if child.Value(r.key) == any(child) {
		cancelCtxKey = r.key
	} else {
		cancelCtxKey = new(int) // package context has changed; no other code has this key
	}
	cancelChildCode = codeOf(r.function)
}

// cancelsChild reports whether package context has made f to cancel a child. Such an f calls
// no code of users.
func cancelsChild(f func()) bool { return codeOf(f) == cancelChildCode }

// recorder is a parent that records what package context passes to its methods.
type recorder struct {
	context.Context
	key      any
	function func()
}

func (r *recorder) Done() <-chan struct{} { return neverClosed }

func (r *recorder) Value(key any) any {
	r.key = key
	return nil
}

func (r *recorder) AfterFunc(f func()) (stop func() bool) {
	r.function = f
	return func() bool { return true }
}
