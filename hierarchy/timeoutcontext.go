package hierarchy

import (
	"context"
	"sync"
	"time"
)

// timeoutContext is a context that can be ended with any error and cause.
//
// Package context gives that only to its own deadlines: whatever is cancelled
// from outside gets Canceled, and so do its children. But a context of theirs
// takes over the error of its parent. So this one is a cancel context of
// theirs, to which children attach themselves as to any other, under a root of
// ours, which ends it with the error that it is told.
type timeoutContext struct {
	context.Context // theirs, under root
	root            *root
	release         context.CancelFunc // comes after the end
	parent          context.Context
	deadline        time.Time // immutable, as all above

	mu     sync.Mutex
	ended  bool                     // guarded by mu, as all below
	timer  Timer                    // of the deadline
	unhook func() bool              // ends the watch on parent
	kin    map[*timeoutContext]bool // those of ours that watch this one
}

// root is the parent that a timeoutContext's own context sees. Its Done is not
// that of a context of theirs, so the child asks for AfterFunc, and what it
// gives there is what ends it, with root's Err and Cause.
type root struct {
	context.Context // parent's values, and the cause
	setCause        context.CancelCauseFunc
	err             error  // set before endChild is called
	endChild        func() // immutable
}

// endless is never closed.
var endless = make(chan struct{})

func (r *root) Done() <-chan struct{} { return endless }
func (r *root) Err() error            { return r.err }

// AfterFunc is called by context.WithCancel, once.
func (r *root) AfterFunc(f func()) (stop func() bool) {
	r.endChild = f
	return func() bool { return true }
}

func newTimeoutContext(parent context.Context, deadline time.Time) *timeoutContext {
	r := &root{}
	r.Context, r.setCause = context.WithCancelCause(context.WithoutCancel(parent))
	c := &timeoutContext{deadline: deadline, parent: parent, root: r}
	c.Context, c.release = context.WithCancel(r)
	return c
}

func (c *timeoutContext) Deadline() (time.Time, bool) { return c.deadline, true }

func (c *timeoutContext) Done() <-chan struct{} {
	c.follow()
	return c.Context.Done()
}

func (c *timeoutContext) Err() error {
	c.follow()
	return c.Context.Err()
}

func (c *timeoutContext) Value(key any) any {
	if key == (kinKey{}) {
		return c
	}
	return c.Context.Value(key)
}

func (c *timeoutContext) String() string {
	return "hierarchy.WithDeadline(" + c.deadline.String() + ")"
}

// kinKey is the key under which a timeoutContext finds the nearest of its kind.
type kinKey struct{}

// watch has c end with its parent.
func (c *timeoutContext) watch() {
	if c.parent.Done() == nil {
		return
	}
	var unhook func() bool
	if p, ok := c.parent.Value(kinKey{}).(*timeoutContext); ok && p.Done() == c.parent.Done() {
		unhook = p.adopt(c)
	} else {
		unhook = context.AfterFunc(c.parent, c.follow)
	}
	c.mu.Lock()
	c.unhook = unhook
	ended := c.ended
	c.mu.Unlock()
	if ended {
		unhook()
	}
	c.follow()
}

// adopt has child told when c ends, in the call that ends it.
func (c *timeoutContext) adopt(child *timeoutContext) (release func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kin == nil {
		c.kin = make(map[*timeoutContext]bool)
	}
	c.kin[child] = true
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.kin, child)
		return true
	}
}

// follow ends c if its parent has ended. Whoever asks c does it, so that nobody
// sees a parent ended and c not.
func (c *timeoutContext) follow() {
	if err := c.parent.Err(); err != nil && c.Context.Err() == nil {
		c.end(err, context.Cause(c.parent))
	}
}

// cancel is the CancelFunc.
func (c *timeoutContext) cancel() {
	c.follow()
	c.end(context.Canceled, nil)
}

// end ends c and its children with that error and cause, if it has not ended.
func (c *timeoutContext) end(err, cause error) {
	if cause == nil {
		cause = err
	}
	c.mu.Lock()
	if c.ended {
		c.mu.Unlock()
		return
	}
	c.ended = true
	c.root.err = err
	c.root.setCause(cause)
	c.root.endChild()
	c.release()
	timer, unhook, kin := c.timer, c.unhook, c.kin
	c.kin = nil
	c.mu.Unlock()
	timer.Stop()
	if unhook != nil {
		unhook()
	}
	for child := range kin {
		child.follow()
	}
}
