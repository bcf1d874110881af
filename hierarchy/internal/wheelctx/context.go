package wheelctx

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"time"
)

// timeoutContext is a context with a deadline on a wheel. It makes a context of package context only when Done is
// called (see standard.go) and to pass on a cause.
//
// Contexts of other types above it may end without calling code of this package. So its methods ask the nearest of them
// first, so that a context never looks active after the cancel of an ancestor has returned. When it ends, it ends the
// contexts below it: children of this type, and children of package context that registered with AfterFunc.
// Then it calls the functions that users passed to AfterFunc. By then it holds no lock, and no other call waits for the
// functions, so they may use all contexts and wheels.
//
// Order of locks: ending of a context before ending of its children, every ending before every mu, and mu before the
// locks of package context. No goroutine holds two mu.
type timeoutContext struct {
	parent   context.Context // immutable, like all fields down to cause
	wheel    Wheel
	deadline time.Time // deadline as a wall time
	due      int64     // deadline as an elapsed time
	cause    *error    // cause of c at the deadline; nil if none was given

	joined        *timeoutContext // the parent, possibly with values, if it is of this type: it ends c when it ends
	asked         context.Context // the nearest ancestor of another type that can end c, or nil
	above         *timeoutContext // the nearest context of this type above asked, or nil
	notifier      *notifier       // calls cancel when asked ends; nil if joined or an AfterFunc ends c instead
	stopAfterFunc func() bool     // stops that AfterFunc; nil if there is none
	timer         Timer           // fires at the deadline
	needsWatch    bool            // whether package context can cancel asked without calling our code
	started       atomic.Bool     // the fields from joined to needsWatch are immutable from now on

	hasDoneCtx atomic.Bool // whether doneCtx is set, because Done was called

	ended  atomic.Pointer[Outcome] // nil until c ends; written once, with mu held
	ending sync.Mutex              // held while c and the contexts below it end

	listeners                  // the mu of listeners also guards the fields below
	doneCtx    context.Context // context whose Done is the Done of c; immutable once hasDoneCtx is set
	endDoneCtx func()          // ends doneCtx; nil if doneCtx had ended from the start

	registration listener // c in the lists of joined or notifier, whose mu guards it
}

func (c *timeoutContext) Deadline() (time.Time, bool) { return c.deadline, true }

func (c *timeoutContext) Done() <-chan struct{} {
	c.settle()
	if !c.hasDoneCtx.Load() {
		c.makeDoneCtx()
	}
	return c.doneCtx.Done()
}

func (c *timeoutContext) Err() error {
	o := c.ended.Load()
	if o == nil {
		if c.asked == nil || c.above == nil && c.asked.Err() == nil {
			return nil // settle finds the same, but takes longer
		}
		if o = c.settle(); o == nil {
			return nil
		}
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

// AfterFunc registers f to be called when c ends, in the goroutine that ends c, after all contexts below c have
// ended. f may use c, the contexts above and below it, and the wheel. The call that ended c returns after f, so f
// should not block.
//
// Package context calls AfterFunc when it makes a child of c, with an f that cancels the
// child. Then the child ends with the contexts below c.
func (c *timeoutContext) AfterFunc(f func()) (stop func() bool) {
	l, list := &listener{call: f}, &c.functions
	if cancelsChild(f) {
		list = &c.contexts
	}
	if !c.add(l, list) {
		go f() // not in this call, since package context holds a lock that f takes
	}
	return func() bool { return c.remove(l) }
}

// String returns what package context would print for such a context.
func (c *timeoutContext) String() string {
	left := c.deadline.Sub(c.wheel.Now())
	return fmt.Sprintf("%s.WithDeadline(%v [%v])", contextName(c.parent), c.deadline, left)
}

func contextName(c context.Context) string {
	if s, ok := c.(fmt.Stringer); ok {
		return s.String()
	}
	return reflect.TypeOf(c).String()
}

// New makes a context whose deadline is t in wall time, and due in elapsed time. now is the present elapsed time; if
// the deadline has passed, due equals now.
func New(w Wheel, parent context.Context, t time.Time, now, due int64, cause error) (context.Context, context.CancelFunc) {
	if parent == nil {
		panic("hierarchy: cannot create context from nil parent")
	}
	if sooner, ok := parent.Deadline(); ok && sooner.Before(t) {
		t = sooner // the parent ends first
	}
	c := &timeoutContext{parent: parent, wheel: w, deadline: t, due: due}
	if cause != nil {
		c.cause = new(cause)
	}
	cancel := c.cancel // allocated once: the caller, the wheel and the parent call it
	n := c.inspectParent()
	var later callLater
	if c.settleTree(&later) == nil {
		c.start(now, n, cancel)
	}
	later.call()
	return c, cancel
}

// start sets the timer of c, and makes c end when the parent ends, by n if n is not nil. No functions or contexts can
// have been added to c yet, so ending c ends no other context.
func (c *timeoutContext) start(now int64, n *notifier, cancel func()) {
	if c.wheel.Passed(now, c.due) { // c needs no place on the wheel
		if o := c.wheel.Stopped(); o != nil {
			c.endTree(o, nil)
		} else {
			c.endTree(c.deadlineOutcome(), nil)
		}
		return
	}
	c.stopAfterFunc = c.register(n, cancel)
	var err error
	c.timer, err = c.wheel.Add(cancel, now, c.due)
	c.started.Store(true)
	if err != nil {
		c.endTree(NewOutcome(context.Canceled, err), nil)
	} else if c.ended.Load() != nil {
		c.stopTimer() // c ended before it had a timer
		c.unregister()
	}
}

// cancel is the CancelFunc. The wheel calls it, too, at the deadline and when the wheel stops, and so does the parent
// when it ends.
func (c *timeoutContext) cancel() {
	var later callLater
	c.cancelTree(&later)
	later.call()
}

// stopTimer stops the timer of c. It reports whether c had a timer that will not fire now.
func (c *timeoutContext) stopTimer() bool {
	return c.timer.Generation != 0 && c.wheel.Stop(c.timer)
}

// timerOutcome returns the outcome of c after its timer fired, or was dropped by the wheel's Stop.
func (c *timeoutContext) timerOutcome() *Outcome {
	if o := c.wheel.Stopped(); o != nil && c.wheel.Elapsed() < c.due {
		return o
	}
	return c.deadlineOutcome()
}

// deadlineOutcome returns the outcome of c at its deadline.
func (c *timeoutContext) deadlineOutcome() *Outcome {
	if c.cause == nil {
		return expired
	}
	return NewOutcome(context.DeadlineExceeded, *c.cause)
}
