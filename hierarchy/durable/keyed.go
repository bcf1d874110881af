package durable

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
)

// Keyed is durable timers with keys. All methods may be called concurrently, also inside
// handlers. Open makes a Keyed.
//
// An operation that returned nil took hold, and stays. One that returned an error other than
// ErrUnavailable or the context's did not. With these two it may have: do it again.
type Keyed[K comparable, V any] struct {
	cfg    Config[K, V]
	owners owners
	crew   *partition.Crew
	pool   sync.Pool // of *request
}

// handle calls the handler.
func (w *Keyed[K, V]) handle(ctx context.Context, f partition.Firing) error {
	k, v, err := w.decode(f.Key, f.Value)
	if err != nil {
		w.cfg.Logger.Error("durable: a timer can't be decoded", "key", f.Key, "err", err)
		return err
	}
	return w.cfg.Handle(ctx, Firing[K, V]{k, v, timeOf(f.Due), int(f.Attempt), ID{f.ID}, f.Epoch})
}

// decode turns bytes into a key and a value.
func (w *Keyed[K, V]) decode(key, value string) (k K, v V, err error) {
	if k, err = w.cfg.Key.Decode([]byte(key)); err == nil {
		v, err = w.cfg.Value.Decode([]byte(value))
	}
	return k, v, err
}

// Set sets a timer for k, with the value v, due after d, counted from the call. If k has a timer,
// it is replaced. d does not pass while the machine is suspended: see Config.Clock. The error is also
// ErrFull or ErrTooLarge.
func (w *Keyed[K, V]) Set(ctx context.Context, k K, v V, d time.Duration) error {
	_, _, err := w.do(ctx, frame.Set, k, &v, d, time.Time{})
	return err
}

// SetAt is Set with a wall time. If the wall clock is set, the timer follows it, within 10s.
func (w *Keyed[K, V]) SetAt(ctx context.Context, k K, v V, t time.Time) error {
	_, _, err := w.do(ctx, frame.SetAt, k, &v, 0, t)
	return err
}

// Move makes the timer of k due after d. It is false if k has none, or a dead one.
func (w *Keyed[K, V]) Move(ctx context.Context, k K, d time.Duration) (bool, error) {
	_, ok, err := w.do(ctx, frame.Move, k, nil, d, time.Time{})
	return ok, err
}

// Remove removes the timer of k, dead or not, and returns its value. It is false if k has none. If
// the value can't be decoded, the timer is removed: Remove is true, with an error.
func (w *Keyed[K, V]) Remove(ctx context.Context, k K) (v V, ok bool, err error) {
	value, ok, err := w.do(ctx, frame.Remove, k, nil, 0, time.Time{})
	if ok {
		v, err = w.cfg.Value.Decode([]byte(value))
	}
	return v, ok, err
}

// Revive makes the dead timer of k due at once, as if it had not been tried yet. It is false if k
// has no dead timer. The error is also ErrFull.
func (w *Keyed[K, V]) Revive(ctx context.Context, k K) (bool, error) {
	_, ok, err := w.do(ctx, frame.Revive, k, nil, 0, time.Time{})
	return ok, err
}

// Get returns the value of k and the time until its next attempt is due, 0 if it is due or under
// way. It is false if k has no timer, or a dead one.
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

// timeOf is a time of a log as a time.Time.
func timeOf(t int64) time.Time { return time.Unix(0, t) }

// wallTime is t as a time of a log. Times beyond what 64 bits hold are their ends.
func wallTime(t time.Time) int64 {
	if t.Year() > 2261 {
		return math.MaxInt64
	}
	if t.Year() < 1679 {
		return math.MinInt64
	}
	return t.UnixNano()
}
