package hierarchy

import (
	"context"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/internal/engine"
	"github.com/epicycle-go/epicycle/hierarchy/internal/wheelctx"
)

// WithTimeout is context.WithTimeout with the deadline on this wheel. The context is done when d has passed, when
// parent is done, when cancel is called, or when the wheel stops. If d <= 0, or d has passed before the timer is set,
// the context is done before the call returns. Err and Cause of the context and of its children return what package
// context would return: DeadlineExceeded after d. If the wheel is stopped, or is stopped later, the context is
// cancelled with the cause ErrClosed. If the wheel is full, the context is cancelled with the cause ErrFull. Call
// cancel as soon as the context is no longer needed. cancel may be called several times, and concurrently.
//
// When the call that ends the context returns (cancel, Add of a clock.Mock, or the first Stop of the wheel), the
// context and its children are done. Further calls of Stop do not wait for the first. When the cancel of a parent
// returns, Done, Err and Cause of the context already show it. Children that package context made from this context,
// and contexts made from these children, may be cancelled a moment later, in a goroutine.
//
// A context costs two allocations. The first call of Done costs four to six more. The first few contexts below a
// parent that package context can cancel cost two more allocations each, when Done is called.
//
// A context has a timer on the wheel, which Len and Stats count, until it ends. Until somebody waits for a context, or
// for one below it, by Done, AfterFunc or many calls of Err, the context is not registered with its parent. If the
// parent ends then, Err and Cause show it, but the timer stays until one of these or cancel is called, or until the
// deadline. Each shard has at most 256 of these timers. A wheel with MaxPending has none, and its contexts cost more.
//
// A context and its children need no goroutine. There are two exceptions, for which package context starts a goroutine:
// a parent of a foreign type without an AfterFunc method; and a child made from a context.WithValue of this context, if
// package context can cancel a parent of this context. To avoid the second exception, add values before the timeout, or
// with the WithValue of compat/context.
func (w *Wheel) WithTimeout(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return w.WithTimeoutCause(parent, d, nil)
}

// WithDeadline is like WithTimeout, with the time from now until t as the delay. Now is the
// clock's wall time.
func (w *Wheel) WithDeadline(parent context.Context, t time.Time) (context.Context, context.CancelFunc) {
	return w.WithDeadlineCause(parent, t, nil)
}

// WithDeadlineCause is like WithDeadline, and also sets the cause of the context at t. The
// returned cancel does not set the cause.
func (w *Wheel) WithDeadlineCause(parent context.Context, t time.Time, cause error) (context.Context, context.CancelFunc) {
	now, elapsed := w.core.Reading()
	return w.newContext(parent, t, t.Sub(now), elapsed, cause)
}

// WithTimeoutCause is like WithTimeout, and also sets the cause of the context when d has
// passed. The returned cancel does not set the cause.
func (w *Wheel) WithTimeoutCause(parent context.Context, d time.Duration, cause error) (context.Context, context.CancelFunc) {
	now, elapsed := w.core.Reading()
	return w.newContext(parent, now.Add(d), d, elapsed, cause)
}

// newContext makes a context whose deadline is t in wall time, and d after now in elapsed time.
func (w *Wheel) newContext(parent context.Context, t time.Time, d time.Duration, now int64, cause error) (context.Context, context.CancelFunc) {
	return wheelctx.New((*contextWheel)(w.core), parent, t, now, engine.DeadlineAfter(now, d), cause)
}

// contextWheel is a core as package wheelctx sees it.
type contextWheel engine.Core[func()]

// stoppedContext is the outcome of contexts whose wheel is stopped.
var stoppedContext = wheelctx.NewOutcome(context.Canceled, ErrClosed)

func (w *contextWheel) core() *engine.Core[func()] { return (*engine.Core[func()])(w) }

// fewContexts is the number of contexts on a shard up to which their timers may stay when their parents have ended.
const fewContexts = 256

func (w *contextWheel) Add(f func(), now, due int64) (t wheelctx.Timer, crowded bool, err error) {
	r, crowded, err := w.core().AddOnStop(f, now, due, fewContexts)
	return wheelctx.Timer(r), crowded, err
}

func (w *contextWheel) Stop(t wheelctx.Timer) bool {
	return w.core().StopRef(engine.Ref(t))
}

func (w *contextWheel) Passed(now, due int64) bool {
	return due <= now || w.core().Passed(now, time.Duration(due-now))
}

func (w *contextWheel) Stopped() *wheelctx.Outcome {
	if w.core().Closed() {
		return stoppedContext
	}
	return nil
}

func (w *contextWheel) Elapsed() int64 { return w.core().Now() }
func (w *contextWheel) Now() time.Time { return w.core().Clock().Now() }
