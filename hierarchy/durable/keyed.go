package durable

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
)

// Keyed is a set of durable timers with keys, returned by Open. All methods are safe for concurrent use,
// also inside handlers.
//
// An operation that returned nil is committed. An operation that returned an error is not committed, unless the error
// is ErrUnavailable or the error of the context: then it may be committed. Retry it.
type Keyed[K comparable, V any] struct {
	cfg    Config[K, V]
	owners owners
	crew   *partition.Crew
	pool   sync.Pool // of *request
}

// handle decodes a firing and calls Config.Handle. If the firing can't be decoded, the attempt has failed.
func (w *Keyed[K, V]) handle(ctx context.Context, f core.Firing) error {
	firing, err := w.firing(&f)
	if err != nil {
		return err
	}
	return w.traced(ctx, &f, func(ctx context.Context) error { return w.cfg.Handle(ctx, firing) })
}

// announce decodes a firing and calls Config.Announce.
func (w *Keyed[K, V]) announce(f core.Firing) error {
	firing, err := w.firing(&f)
	if err == nil {
		w.cfg.Announce(firing)
	}
	return err
}

// withdrawn decodes a firing and calls Config.Withdrawn. A firing that can't be decoded was not announced.
func (w *Keyed[K, V]) withdrawn(f core.Firing) {
	if firing, err := w.firing(&f); err == nil {
		w.cfg.Withdrawn(firing)
	}
}

// onDead decodes a firing and calls Config.OnDead. If the firing can't be decoded, OnDead is not called, just as Handle
// was not called.
func (w *Keyed[K, V]) onDead(f core.Firing, last error) {
	if firing, err := w.firing(&f); err == nil {
		w.cfg.OnDead(firing, last)
	}
}

// firing decodes a firing. If that fails, it logs the error, too.
func (w *Keyed[K, V]) firing(f *core.Firing) (firing Firing[K, V], err error) {
	firing = Firing[K, V]{Due: timeOf(f.Due), Attempt: int(f.Attempt), ID: ID{f.ID}, Epoch: f.Epoch, Missed: int(f.Missed)}
	if firing.Key, firing.Value, firing.Schedule, err = w.decode(f.Key, f.Value, f.Schedule); err != nil {
		w.cfg.Logger.Error("durable: a timer can't be decoded", "key", f.Key, "err", err)
	}
	return firing, err
}

// decode decodes the key, the value and the schedule of a timer in the log.
func (w *Keyed[K, V]) decode(key, value, schedule string) (k K, v V, s Schedule, err error) {
	if k, err = w.cfg.Key.Decode([]byte(key)); err == nil {
		v, s, err = w.decodeValue(value, schedule)
	}
	return k, v, s, err
}

func (w *Keyed[K, V]) decodeValue(value, schedule string) (v V, s Schedule, err error) {
	if v, err = w.cfg.Value.Decode([]byte(value)); err == nil {
		s, err = parseStored(schedule)
	}
	return v, s, err
}

// Set sets a timer for k, with the value v, due d after the call. If k has a timer, it is replaced. Set returns the new
// timer, with its ID and the time when it is due. Time in which the machine is suspended may not count: see
// Config.Clock. The error can also be ErrFull or ErrTooLarge.
func (w *Keyed[K, V]) Set(ctx context.Context, k K, v V, d time.Duration) (Entry[K, V], error) {
	e, _, err := w.set(ctx, operation[K, V]{kind: frame.Set, key: k, val: v, d: d})
	return e, err
}

// SetAt is like Set, but the timer is due at a wall time. If the wall clock is set, the timer adapts within 10s. Logs have
// times from 1677-09-21 to 2262-04-11: an earlier or later one is replaced by the nearest of them, as a duration
// of Set is that would end after them.
func (w *Keyed[K, V]) SetAt(ctx context.Context, k K, v V, t time.Time) (Entry[K, V], error) {
	e, _, err := w.set(ctx, operation[K, V]{kind: frame.SetAt, key: k, val: v, t: t})
	return e, err
}

// set sets a timer and returns it. If a condition does not hold, set returns the timer that k has, and false.
func (w *Keyed[K, V]) set(ctx context.Context, op operation[K, V]) (e Entry[K, V], ok bool, err error) {
	a, err := w.do(ctx, op)
	switch {
	case err != nil:
		return e, false, err
	case !a.took:
		e, err = w.returned(op.key, a.text)
		return e, false, err
	}
	e = op.entry(a.id, a.due)
	if t, ok := core.Was(a.text); ok && op.s != nil {
		e.Paused = t.Paused
	}
	return e, true, nil
}

// Move makes the timer of k due d after the call, and returns it as it is then: it has another ID, and no attempts. ok
// is false if k had no timer, or a dead one. Even if ok is true, the handler may have been called for the timer as it
// was before: if the handler is running, its context is cancelled, but it may have done its work already. If the value
// can't be decoded, the timer is moved all the same: ok is true, and err is the error of the Codec.
func (w *Keyed[K, V]) Move(ctx context.Context, k K, d time.Duration) (e Entry[K, V], ok bool, err error) {
	return w.move(ctx, operation[K, V]{kind: frame.Move, was: true, key: k, d: d})
}

// MoveAt is like Move, but the timer is due at a wall time, and follows the wall clock from then on as one of SetAt
// does, whichever way it was set.
func (w *Keyed[K, V]) MoveAt(ctx context.Context, k K, t time.Time) (e Entry[K, V], ok bool, err error) {
	return w.move(ctx, operation[K, V]{kind: frame.MoveAt, was: true, key: k, t: t})
}

func (w *Keyed[K, V]) move(ctx context.Context, op operation[K, V]) (e Entry[K, V], ok bool, err error) {
	a, err := w.do(ctx, op)
	if err != nil || !a.took {
		return e, false, err
	}
	e, err = w.returned(op.key, a.text)
	e.ID, e.Due = ID{a.id}, timeOf(a.due)
	return e, true, err
}

// Remove removes the timer of k, dead or not. It returns the timer's value, and whether there was a timer. Even if
// there was, its handler may have been called; RemoveEntry reports that. If the value can't be decoded, the timer is
// removed all the same: ok is true, and err is the error of the Codec.
func (w *Keyed[K, V]) Remove(ctx context.Context, k K) (v V, ok bool, err error) {
	a, err := w.do(ctx, operation[K, V]{kind: frame.Remove, key: k})
	if a.took {
		v, err = w.cfg.Value.Decode([]byte(a.text))
	}
	return v, a.took, err
}

// Revive makes the dead timer of k due at once, with its attempts counted from 1 again. It reports whether k had a dead
// timer. The error can also be ErrFull.
func (w *Keyed[K, V]) Revive(ctx context.Context, k K) (bool, error) {
	a, err := w.do(ctx, operation[K, V]{kind: frame.Revive, key: k})
	return a.took, err
}

// Get returns the value of k's timer and the time until its next attempt is due, which is 0 if the attempt is due or
// running. ok is false if k has no timer, or a dead one.
func (w *Keyed[K, V]) Get(ctx context.Context, k K) (v V, remaining time.Duration, ok bool, err error) {
	r := w.pool.Get().(*request)
	defer w.pool.Put(r)
	if err := ctx.Err(); err != nil {
		return v, 0, false, err
	}
	if r.data, err = w.appendKey(r.data[:0], k); err != nil {
		return v, 0, false, err
	}
	value, remaining, ok, err := w.owners.Get(ctx, of(r.data, w.owners.Len()), r.data)
	if ok && err == nil {
		v, err = w.cfg.Value.Decode([]byte(value))
	}
	return v, remaining, ok && err == nil, err
}

// Len returns the number of timers that are not dead.
func (w *Keyed[K, V]) Len(ctx context.Context) (n int, err error) {
	for at := range w.owners.Len() {
		in, err := w.owners.Count(ctx, at)
		if err != nil {
			return 0, err
		}
		n += in
	}
	return n, ctx.Err()
}

// timeOf converts a time of frames, which are nanoseconds since the Unix epoch.
func timeOf(t int64) time.Time { return time.Unix(0, t) }

// instantOf is the inverse of timeOf. It replaces a time that frames can't represent by the nearest one that they can, and
// reports whether it had not to.
func instantOf(t time.Time) (at int64, exact bool) {
	switch {
	case t.After(timeOf(math.MaxInt64)):
		return math.MaxInt64, false
	case t.Before(timeOf(math.MinInt64)):
		return math.MinInt64, false
	}
	return t.UnixNano(), true
}
