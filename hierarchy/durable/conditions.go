package durable

import (
	"context"
	"errors"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// SetIfAbsent is Set if k has no timer, or a dead one. Otherwise it changes nothing, returns the timer that k has, and ok
// is false. So if several calls set one key, the first wins. A timer whose handler is running counts as present until
// the handler has returned nil.
func (w *Keyed[K, V]) SetIfAbsent(ctx context.Context, k K, v V, d time.Duration) (e Entry[K, V], ok bool, err error) {
	return w.setIf(ctx, core.IfAbsent, k, v, d)
}

// SetSooner is Set if k has no timer, a dead one, or one whose next attempt is due later than d after the call.
// Otherwise it changes nothing, returns the timer that k has, and ok is false. So if several calls set one key, the one
// that is due soonest wins, and of those that are due at the same time, the first.
func (w *Keyed[K, V]) SetSooner(ctx context.Context, k K, v V, d time.Duration) (e Entry[K, V], ok bool, err error) {
	return w.setIf(ctx, core.IfSooner, k, v, d)
}

// SetLater is Set if k has no timer, a dead one, one whose attempt is running, or one whose next attempt is due sooner
// than d after the call. Otherwise it changes nothing, returns the timer that k has, and ok is false. So if several
// calls set one key, the one that is due latest wins, and of those that are due at the same time, the first.
func (w *Keyed[K, V]) SetLater(ctx context.Context, k K, v V, d time.Duration) (e Entry[K, V], ok bool, err error) {
	return w.setIf(ctx, core.IfLater, k, v, d)
}

func (w *Keyed[K, V]) setIf(ctx context.Context, c core.Condition, k K, v V, d time.Duration) (Entry[K, V], bool, error) {
	return w.set(ctx, operation[K, V]{kind: frame.Set, when: c, was: true, key: k, val: v, d: d})
}

// SetAtIfAbsent is SetAt with the condition of SetIfAbsent.
func (w *Keyed[K, V]) SetAtIfAbsent(ctx context.Context, k K, v V, t time.Time) (e Entry[K, V], ok bool, err error) {
	return w.setAtIf(ctx, core.IfAbsent, k, v, t)
}

// SetAtSooner is SetAt with the condition of SetSooner: that the timer that k has is due later than t. Two wall times
// are compared as they are, so the same call again changes nothing.
func (w *Keyed[K, V]) SetAtSooner(ctx context.Context, k K, v V, t time.Time) (e Entry[K, V], ok bool, err error) {
	return w.setAtIf(ctx, core.IfSooner, k, v, t)
}

// SetAtLater is SetAt with the condition of SetLater: that the timer that k has is due sooner than t. Two wall times are
// compared as they are, so the same call again changes nothing.
func (w *Keyed[K, V]) SetAtLater(ctx context.Context, k K, v V, t time.Time) (e Entry[K, V], ok bool, err error) {
	return w.setAtIf(ctx, core.IfLater, k, v, t)
}

func (w *Keyed[K, V]) setAtIf(ctx context.Context, c core.Condition, k K, v V, t time.Time) (Entry[K, V], bool, error) {
	return w.set(ctx, operation[K, V]{kind: frame.SetAt, when: c, was: true, key: k, val: v, t: t})
}

// Swap is Set that also returns the value of the timer that it replaced. replaced reports whether k had a timer that
// was not dead. If the old value can't be decoded, the timer is set all the same: replaced is true, and err is the
// error of the Codec.
func (w *Keyed[K, V]) Swap(ctx context.Context, k K, v V, d time.Duration) (old V, replaced bool, err error) {
	a, err := w.do(ctx, operation[K, V]{kind: frame.Set, was: true, key: k, val: v, d: d})
	if err != nil || a.text == "" {
		return old, false, err
	}
	e, err := w.returned(k, a.text)
	return e.Value, true, err
}

// RemoveEntry is Remove that returns the whole timer. Its State and Attempt show whether its handler had been called:
// if State is StateWaiting and Attempt is 0, the handler had not been called for this timer, and never will be. There
// is one exception, since the log does not have each call of a handler: after a process was killed, or has lost its
// lease, the next owner of the partition does not know which handlers had been called for timers that were due then.
func (w *Keyed[K, V]) RemoveEntry(ctx context.Context, k K) (e Entry[K, V], ok bool, err error) {
	a, err := w.do(ctx, operation[K, V]{kind: frame.Remove, was: true, key: k})
	if a.took {
		e, err = w.returned(k, a.text)
	}
	return e, a.took, err
}

// ReviveEntry is Revive that returns the timer as it is then. It keeps its ID. If the value can't be decoded, the timer
// is revived all the same: ok is true, and err is the error of the Codec.
func (w *Keyed[K, V]) ReviveEntry(ctx context.Context, k K) (e Entry[K, V], ok bool, err error) {
	a, err := w.do(ctx, operation[K, V]{kind: frame.Revive, was: true, key: k})
	if a.took {
		e, err = w.returned(k, a.text)
	}
	return e, a.took, err
}

var errNoEntry = errors.New("durable: the answer has the timer in a form that this version of the package can't read")

// returned decodes the timer of k that an operation has returned. If that fails, the operation has had its effect all
// the same.
func (w *Keyed[K, V]) returned(k K, text string) (e Entry[K, V], err error) {
	t, ok := core.Was(text)
	if !ok {
		return e, errNoEntry
	}
	e = entryOf[K, V](&t)
	e.Key = k
	e.Value, e.Schedule, err = w.decodeValue(t.Value, t.Schedule)
	return e, err
}
