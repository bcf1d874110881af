package hierarchy

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// timeoutContext is a context with a deadline on a wheel. It makes a context of package
// context only when Done is called (see contextdone.go) and to pass on a cause.
//
// Its methods check the parent first, so that a context never looks active after its
// parent has ended. When it ends, it tells its followers: children of this type, and
// children of package context that registered with AfterFunc.
//
// Order of locks: the ending of a context before that of its children, every ending
// before every mu, and mu before the locks of package context. No goroutine holds two mu.
type timeoutContext struct {
	parent   context.Context // immutable, like all fields down to cause
	core     *core[func()]
	deadline time.Time // in wall time
	due      int64     // in elapsed time
	cause    *error    // at the deadline; nil: none was given

	kin    *timeoutContext // the nearest ancestor of this type, or nil
	hub    *hub            // tells c when the parent ends; nil if kin or an AfterFunc does
	unhook func() bool     // stops that AfterFunc; nil if there is none
	timer  Timer           // at the deadline
	relation
	started atomic.Bool // the fields from kin to relation are immutable from now on

	asked   atomic.Bool // Done was called, and theirs is set
	kinOver atomic.Bool // kin, which is not direct, has ended and told its followers

	ended  atomic.Pointer[outcome] // nil until c ends; written once, with mu held
	ending sync.Mutex              // held while c ends, until its followers have been told

	followers                 // its mu also guards the fields below
	theirs    context.Context // its Done is that of c; immutable once asked is set
	endTheirs func()          // ends theirs; nil if theirs had ended from the start

	place follower // in the followers of kin or hub, whose mu guards it
}

// relation is how a context depends on its ancestors.
type relation struct {
	ends    bool // the parent can end
	direct  bool // the parent is kin, perhaps with values: it ends when kin does
	watched bool // package context can cancel an ancestor, and calls no code of ours then
}

func (c *timeoutContext) Deadline() (time.Time, bool) { return c.deadline, true }

func (c *timeoutContext) Done() <-chan struct{} {
	if !c.watched || c.kin != nil {
		c.settle() // a watch without kin ends with the parent anyway
	}
	if !c.asked.Load() {
		c.makeTheirs()
	}
	return c.theirs.Done()
}

func (c *timeoutContext) Err() error {
	o := c.settle()
	if o == nil {
		return nil
	}
	c.awaitDone()
	return o.err
}

func (c *timeoutContext) Value(key any) any {
	switch key {
	case kinKey{}:
		return c
	case cancelCtxKey:
		return c.cancelCtx()
	}
	return c.parent.Value(key)
}

// AfterFunc has f called when c ends, in the goroutine that ends it. Package context calls
// AfterFunc when it makes a child of c, with an f that cancels the child. f may call the
// methods of c, but must not cancel c.
func (c *timeoutContext) AfterFunc(f func()) (stop func() bool) {
	child := &follower{told: f}
	if !c.add(child) {
		go f() // not in this call: package context holds a lock that f takes
	}
	return func() bool { return c.remove(child) }
}

func (c *timeoutContext) String() string {
	return "hierarchy.WithDeadline(" + c.deadline.String() + ")"
}
