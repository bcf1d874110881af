package hierarchy

import (
	"context"
	"fmt"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/internal/engine"
	"github.com/epicycle-go/epicycle/hierarchy/internal/keys"
)

// Keyed is a wheel whose timers have names. All methods may be called concurrently, also inside callbacks. A call costs
// a hash of the key and one lock. In the steady state nothing is allocated. NewKeyed makes a Keyed; the methods of a
// zero Keyed panic.
//
// All methods treat keys that can't be found in the same way. A key that can't be compared, such as a slice in an
// interface, identifies nothing: methods that return an error return ErrArgument, even after Stop, and the others
// report that the key is not pending. A key unequal to itself (NaN) is never pending either, but it can be set: each
// Set makes a new timer, which fires unless Drain or Stop takes it out. After Stop no key is pending: methods that
// return an error return ErrClosed.
type Keyed[K comparable, V any] struct {
	core  *engine.Core[keys.Entry[K, V]]
	table *keys.Table[K, V]
}

// NewKeyed makes a wheel that calls fire with the key and value of each timer. When fire
// is called, the key is no longer pending. The error is ErrNilFunc, or ErrArgument as with
// New.
func NewKeyed[K comparable, V any](cfg Config, fire func(K, V)) (*Keyed[K, V], error) {
	if fire == nil {
		return nil, ErrNilFunc
	}
	if cfg.Shards == 0 {
		cfg.Shards = shardsForKeys()
	}
	c, err := newCore(cfg, func(e keys.Entry[K, V]) { fire(e.Key, e.Value) })
	if err != nil {
		return nil, err
	}
	return &Keyed[K, V]{core: c, table: keys.New(c)}, nil
}

// shardsForKeys returns the default number of shards of a Keyed. Keys are not bound to cores: with as many shards as
// cores, half of the calls of two cores would contend for the same shard. Too many are not good either, since each
// wake-up reads the nearest deadlines of all shards.
func shardsForKeys() int { return max(min(8*chosenShards(), 32), chosenShards()) }

// Move makes the timer of k due after d, at once if d <= 0, and reports whether k was pending.
// The error is ErrClosed, or ErrArgument if k can't be compared.
func (w *Keyed[K, V]) Move(k K, d time.Duration) (bool, error) {
	h, err := w.hash(k)
	if err != nil {
		return false, err
	}
	return w.table.Move(h, k, w.core.Now(), d)
}

// Remove stops the timer of k and returns its value. It reports whether k was pending.
func (w *Keyed[K, V]) Remove(k K) (v V, ok bool) {
	h, err := w.hash(k)
	if err != nil {
		return v, false
	}
	return w.table.Remove(h, k)
}

// Get returns the value of k and the time until k is due, or 0 if k is already due. It reports whether k is pending.
func (w *Keyed[K, V]) Get(k K) (v V, remaining time.Duration, ok bool) {
	h, err := w.hash(k)
	if err != nil {
		return v, 0, false
	}
	now := w.core.Now()
	v, deadline, ok := w.table.Get(h, k)
	return v, time.Duration(max(0, deadline-now)), ok
}

// Value is like Get, without the remaining time, and does not read the clock. A timer that is due is pending until it
// is dispatched.
func (w *Keyed[K, V]) Value(k K) (v V, ok bool) {
	h, err := w.hash(k)
	if err != nil {
		return v, false
	}
	v, _, ok = w.table.Get(h, k)
	return v, ok
}

// Len returns the number of pending timers.
func (w *Keyed[K, V]) Len() int { return w.core.Len() }

// Stats returns a snapshot of the wheel's counters.
func (w *Keyed[K, V]) Stats() Stats { return statsOf(w.core) }

// Circles returns a snapshot of where the timers are, finest circle first.
func (w *Keyed[K, V]) Circles() []CircleStats { return circlesOf(w.core) }

// Stop stops the wheel and drops all pending timers, which never fire. It does not wait for running callbacks. Further
// calls do nothing.
func (w *Keyed[K, V]) Stop() { w.core.Stop() }

// Shutdown stops the wheel and waits until all callbacks that were dispatched have returned. It returns ctx's error if
// ctx is done first. If a callback called Shutdown, that call would wait for the callback itself: in a callback, call
// Stop, or Shutdown in a new goroutine.
func (w *Keyed[K, V]) Shutdown(ctx context.Context) error { return w.core.Shutdown(ctx) }

// hash returns the hash of k, or ErrArgument if k can't be compared.
func (w *Keyed[K, V]) hash(k K) (uint64, error) {
	engine.RequireMade(w.table != nil, "wheel")
	h, err := w.table.Hash(k)
	if err != nil {
		return 0, fmt.Errorf("%w: key: %v", ErrArgument, err)
	}
	return h, nil
}
