package hierarchy

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"time"
)

// timeoutContext is a context with a deadline on a wheel. It makes a context of package
// context only when Done is called (see contextdone.go) and to pass on a cause.
//
// Its methods check the parent first, so that a context never looks active after its
// parent has ended. When it ends, it ends the contexts below it: children of this type, and
// children of package context that registered with AfterFunc. Then it calls the functions
// that users passed to AfterFunc. By then it holds no lock, and no other call waits for
// the functions, so they may use all contexts and wheels.
//
// Order of locks: the ending of a context before that of its children, every ending
// before every mu, and mu before the locks of package context. No goroutine holds two mu.
type timeoutContext struct {
	parent   context.Context // immutable, like all fields down to cause
	core     *core[func()]
	deadline time.Time // in wall time
	due      int64     // in elapsed time
	cause    *error    // at the deadline; nil: none was given

	ancestor      *timeoutContext // the nearest ancestor of this type, or nil
	notifier      *notifier       // calls cancel when the parent ends; nil if ancestor or an AfterFunc does
	stopAfterFunc func() bool     // stops that AfterFunc; nil if there is none
	shard         *shard[func()]  // this and the next two are the Timer at the deadline; nil: none
	generation    uint64
	index         uint32
	parentCanEnd  bool
	direct        bool        // the parent is ancestor, perhaps with values: it ends when ancestor does
	needsWatch    bool        // package context can cancel an ancestor, and calls no code of ours then
	started       atomic.Bool // the fields from ancestor to needsWatch are immutable from now on

	hasDoneCtx    atomic.Bool // doneCtx is set, because Done was called
	ancestorEnded atomic.Bool // ancestor, which is not direct, and the contexts below it have ended

	ended  atomic.Pointer[outcome] // nil until c ends; written once, with mu held
	ending sync.Mutex              // held while c and the contexts below it end

	listeners                  // its mu also guards the fields below
	doneCtx    context.Context // its Done is that of c; immutable once hasDoneCtx is set
	endDoneCtx func()          // ends doneCtx; nil if doneCtx had ended from the start

	registration listener // with ancestor or notifier, whose mu guards it
}

func (c *timeoutContext) Deadline() (time.Time, bool) { return c.deadline, true }

func (c *timeoutContext) Done() <-chan struct{} {
	if !c.needsWatch || c.ancestor != nil {
		c.settle() // a watch without ancestor ends with the parent anyway
	}
	if !c.hasDoneCtx.Load() {
		c.makeDoneCtx()
	}
	return c.doneCtx.Done()
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
	case timeoutContextKey{}:
		return c
	case cancelCtxKey:
		return c.cancelCtx()
	}
	return c.parent.Value(key)
}

// AfterFunc has f called when c ends, in the goroutine that ends c, after all contexts below
// c have ended. f may use c, the contexts above and below it, and the wheel. The call that
// ended c returns after f, so f should not block.
//
// Package context calls AfterFunc when it makes a child of c, with an f that cancels the
// child. Then the child ends with the contexts below c.
func (c *timeoutContext) AfterFunc(f func()) (stop func() bool) {
	l, list := &listener{call: f}, &c.functions
	if cancelsChild(f) {
		list = &c.contexts
	}
	if !c.add(l, list) {
		go f() // not in this call: package context holds a lock that f takes
	}
	return func() bool { return c.remove(l) }
}

// String is what package context prints of such a context.
func (c *timeoutContext) String() string {
	left := c.deadline.Sub(c.core.clock.Now())
	return fmt.Sprintf("%s.WithDeadline(%v [%v])", contextName(c.parent), c.deadline, left)
}

func contextName(c context.Context) string {
	if s, ok := c.(fmt.Stringer); ok {
		return s.String()
	}
	return reflect.TypeOf(c).String()
}
