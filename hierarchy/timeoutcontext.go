package hierarchy

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// timeoutContext is a context with its deadline on a wheel. What it needs of
// package context is made when it is asked for: see contextdone.go.
//
// Whoever asks it asks its parent first, so that nobody sees a parent ended and
// it not. Who ends it tells those below it: children of its kind, and those of
// package context that have registered themselves by AfterFunc.
//
// Order of locks: a context's ending before those of its children, any ending before
// any mu, and mu before all locks of package context. No two mu are held at once.
type timeoutContext struct {
	parent   context.Context // immutable, as all down to cause
	core     *core[func()]
	deadline time.Time // by the wall clock
	due      int64     // by the wheel's clock
	cause    *error    // for when it has come; nil: none

	kin    *timeoutContext // immutable once started, as all down to relation
	hub    *hub            // by which c is told of its parent's end, if it is not nil
	unhook func() bool     // ends the telling of it, if neither kin nor hub tell it
	timer  Timer           // of the deadline
	relation
	started atomic.Bool

	asked   atomic.Bool // theirs has been made
	kinOver atomic.Bool // kin, which is not direct, has ended and told parent, if it had to

	ended  atomic.Pointer[outcome] // nil until c has ended; written once, with mu held
	ending sync.Mutex              // held by who ends c, until all below have been told

	followers                 // those below; its mu guards what follows, too
	theirs    context.Context // whose Done is that of c; immutable once asked
	endTheirs func()          // ends it

	place follower // among the followers of kin or hub
}

// relation tells how a context depends on what is above.
type relation struct {
	ends    bool // parent can end at all
	direct  bool // parent ends when kin does: it is kin, or kin with values
	watched bool // some parent ends in a call of package context, which tells none of ours
}

func (c *timeoutContext) Deadline() (time.Time, bool) { return c.deadline, true }

func (c *timeoutContext) Done() <-chan struct{} {
	c.settle()
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

// AfterFunc has f called when c ends, in the goroutine that ends it. It is meant
// for package context, which looks for it when it makes a child of c: f cancels
// that child. f may ask c, but must not cancel it.
func (c *timeoutContext) AfterFunc(f func()) (stop func() bool) {
	child := &follower{told: f}
	if !c.add(child) {
		go f() // package context holds a lock now that f needs
	}
	return func() bool { return c.remove(child) }
}

func (c *timeoutContext) String() string {
	return "hierarchy.WithDeadline(" + c.deadline.String() + ")"
}
