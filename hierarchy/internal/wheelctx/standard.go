package wheelctx

import (
	"context"
	"reflect"
	"time"
)

// A context of package context ends with DeadlineExceeded only at a deadline of its own, or when its parent does. Other
// code can only cancel it. While package context cancels a context, it calls no code of this package: it only closes
// channels. So there are two kinds of contexts whose Done a timeoutContext uses. docs/design.md explains why one kind
// does not suffice.
//
// A family is a cancel context below a parent of ours, which can end the family with any error. Package context
// attaches children to it, including those made from a context.WithValue.
//
// A watch is a cancel context below asked. Its Done is closed in the call that cancels asked. At our deadline it can
// only be cancelled, so no child may be attached to it. Children register with AfterFunc.

// makeDoneCtx sets doneCtx, if it is not set.
func (l *links) makeDoneCtx() {
	watch, cancel := l.newWatch() // calls methods of asked, so no lock is held
	if !l.setDoneCtx(watch, cancel) && cancel != nil {
		cancel()
	}
}

// setDoneCtx sets doneCtx, if it is not set, to watch or, if watch is nil, to a family. It
// reports whether it uses watch.
func (l *links) setDoneCtx(watch context.Context, cancelWatch func()) (used bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.doneCtx != nil:
		return false
	case l.ended.Load() != nil:
		l.doneCtx = closed
	case watch != nil:
		l.doneCtx, l.endDoneCtx, used = watch, cancelWatch, true
	default:
		family, cancel := context.WithCancel((*familyParent)(l))
		_ = cancel // endDoneCtx, which WithCancel has set, ends the family
		l.doneCtx = family
	}
	l.hasDoneCtx.Store(true)
	return used
}

// newWatch makes a watch. It returns nil if the context needs none.
func (l *links) newWatch() (watch context.Context, cancel func()) {
	if !l.needsWatch {
		return nil, nil
	}
	return context.WithCancel(l.asked)
}

// familyParent is the parent of the family of a timeoutContext. Its Done belongs to no
// context of package context, so package context calls its AfterFunc. The function that is
// passed to AfterFunc ends the family, with the error and the cause of the familyParent.
type familyParent links

var neverClosed = make(chan struct{})

// closed is a context that has ended. Only its Done is used.
var closed = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

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

func (p *familyParent) Deadline() (time.Time, bool) { return time.Time{}, false }

// AfterFunc is called once, by context.WithCancel in setDoneCtx, with mu held.
func (p *familyParent) AfterFunc(f func()) (stop func() bool) {
	p.endDoneCtx = f
	return func() bool { return true }
}

// cancelCtx returns the value of cancelCtxKey. Before c ends, the value is the family, to which package context
// attaches children, or nil if there is no family. Afterwards the value is a context with the cause of c.
func (c *timeoutContext) cancelCtx() any {
	if o := c.settle(); o != nil {
		return o.cancelCtx()
	}
	l := c.links.Load()
	if l == nil || l.needsWatch || !l.hasDoneCtx.Load() {
		return nil
	}
	return l.doneCtx
}

// Package context does not export these values, but passes them to the methods of every parent.
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

func codeOf(f func()) uintptr { return reflect.ValueOf(f).Pointer() }

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

// Outcome is the error and the cause of a context that has ended. It is immutable, and may
// be shared by contexts.
type Outcome struct {
	err error
	// carrier is a context of package context that has the cause, where context.Cause looks for it. It is nil if the
	// cause is err.
	carrier context.Context
	links   links // the links of all contexts that end so, and had none before
}

var (
	canceled = newOutcome(context.Canceled, nil)
	expired  = newOutcome(context.DeadlineExceeded, nil)
)

func newOutcome(err error, carrier context.Context) *Outcome {
	o := &Outcome{err: err, carrier: carrier}
	o.links.doneCtx = closed
	o.links.hasDoneCtx.Store(true)
	o.links.ended.Store(o)
	return o
}

// NewOutcome returns an Outcome with the given error and cause. If cause is nil, err is the cause.
func NewOutcome(err, cause error) *Outcome {
	if cause == nil {
		cause = err
	}
	switch { // other errors may be of a type that can't be compared
	case err == context.Canceled && cause == context.Canceled:
		return canceled
	case err == context.DeadlineExceeded && cause == context.DeadlineExceeded:
		return expired
	}
	carrier, cancel := context.WithCancelCause(context.Background())
	cancel(cause)
	return newOutcome(err, carrier)
}

// cancelCtx returns the carrier, or an untyped nil if there is none.
func (o *Outcome) cancelCtx() any {
	if o.carrier == nil {
		return nil
	}
	return o.carrier
}
