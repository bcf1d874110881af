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
// called (see standard.go) and to pass on a cause. It has a timer from the beginning, so that the deadline and the end
// of the parent come in order, whoever looks later.
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
	parent   context.Context // immutable, like all fields down to cancel
	wheel    Wheel
	deadline time.Time // deadline as a wall time
	due      int64     // deadline as an elapsed time
	cause    *error    // cause of c at the deadline; nil if none was given
	cancel   func()    // the CancelFunc

	timer    Timer         // fires at the deadline; immutable once hasTimer is set
	hasTimer atomic.Bool   // whether timer is set
	looks    atomic.Uint32 // number of calls of Err without links

	links atomic.Pointer[links] // nil until c ends, or somebody waits for it
}

// links is what a context needs once somebody waits for it, or for a context below it. Many contexts end before that.
//
// A context without links is not registered with its parent, so its methods ask the parent. When it ends, its links are
// those of its Outcome.
type links struct {
	asked      context.Context // the nearest ancestor of another type that can end the context, or nil
	above      *timeoutContext // the nearest context of this type above asked, or nil
	teller     teller          // ends the context when the parent ends; nil if the parent never ends
	needsWatch bool            // whether package context can cancel asked without calling our code

	hasDoneCtx atomic.Bool // whether doneCtx is set, because Done was called

	ended  atomic.Pointer[Outcome] // nil until the context ends; written once, with mu held
	ending sync.Mutex              // held while the context and those below it end

	listeners                  // the mu of listeners also guards the fields below
	doneCtx    context.Context // context whose Done is the Done of c; immutable once hasDoneCtx is set
	endDoneCtx func()          // ends doneCtx; nil if doneCtx had ended from the start

	registration listener // the context in the lists of joined or notifier, whose mu guards it
}

func (c *timeoutContext) Deadline() (time.Time, bool) { return c.deadline, true }

func (c *timeoutContext) Done() <-chan struct{} {
	l := c.link()
	c.settle()
	if !l.hasDoneCtx.Load() {
		l.makeDoneCtx()
	}
	return l.doneCtx.Done()
}

func (c *timeoutContext) Err() error {
	if l := c.links.Load(); l != nil && l.ended.Load() == nil &&
		(l.asked == nil || l.above == nil && l.asked.Err() == nil) {
		return nil // err finds the same, but takes longer
	}
	return c.err()
}

// linkAfter is the number of calls of Err after which a context gets links, with which Err takes less time.
const linkAfter = 8

func (c *timeoutContext) err() error {
	o, l := c.settle(), c.links.Load()
	if o != nil {
		l.awaitDone()
		return o.err
	}
	if l == nil && c.looks.Add(1) == linkAfter {
		c.link()
	}
	return nil
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
	links := c.link()
	l, list := &listener{call: f}, &links.functions
	if cancelsChild(f) {
		list = &links.contexts
	}
	if !links.add(l, list) {
		go f() // not in this call, since package context holds a lock that f takes
	}
	return func() bool { return links.remove(l) }
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
	c.cancel = c.end // allocated once: the caller, the wheel and the parent call it
	if !hasEnded(parent) || c.settle() == nil {
		c.start(now)
	}
	return c, c.cancel
}

// hasEnded reports whether parent has ended. A parent of our type without links is not asked: nobody waits for it.
func hasEnded(parent context.Context) bool {
	if p, ok := parent.(*timeoutContext); ok {
		return p.links.Load() != nil && p.settle() != nil
	}
	return parent.Err() != nil
}

// start sets the timer of c.
func (c *timeoutContext) start(now int64) {
	if c.wheel.Passed(now, c.due) { // c needs no place on the wheel
		if o := c.wheel.Stopped(); o != nil {
			c.endAtOnce(o)
		} else {
			c.endAtOnce(c.deadlineOutcome())
		}
		return
	}
	t, crowded, err := c.wheel.Add(c.cancel, now, c.due)
	if err != nil {
		c.endAtOnce(NewOutcome(context.Canceled, err))
		return
	}
	c.timer = t
	c.hasTimer.Store(true)
	if crowded || expectsChildren(c.parent) {
		c.link()
	}
}

// endAtOnce ends c, which gets no timer. If the parent has ended, it ended before.
func (c *timeoutContext) endAtOnce(o *Outcome) {
	if c.settle() == nil {
		c.endTree(o, nil)
	}
}

// end is the CancelFunc. The wheel calls it, too, at the deadline and when the wheel stops, and so does the parent
// when it ends.
func (c *timeoutContext) end() {
	var later callLater
	c.cancelTree(&later)
	later.call()
}

// stopTimer stops the timer of c. It reports whether c had a timer that will not fire now.
func (c *timeoutContext) stopTimer() bool { return c.hasTimer.Load() && c.wheel.Stop(c.timer) }

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
