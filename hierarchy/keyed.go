package hierarchy

import (
	"context"
	"hash/maphash"
	"reflect"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/internal/engine"
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
	core  *engine.Core[entry[K, V]]
	index []index[K, V] // by shard; each index is guarded by the lock of its shard
	seed  maphash.Seed
	wary  bool // whether comparing two keys can panic
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
	c, err := newCore(cfg, func(e entry[K, V]) { fire(e.key, e.val) })
	if err != nil {
		return nil, err
	}
	w := &Keyed[K, V]{
		core: c, index: make([]index[K, V], len(c.Shards)), seed: maphash.MakeSeed(),
		wary: mayPanic(reflect.TypeFor[K]()),
	}
	c.OnSet, c.OnFire = w.addToIndex, w.unindex
	c.OnDetach = func(shard int) { w.index[shard] = index[K, V]{} }
	return w, nil
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
	now := w.core.Now()
	s, x := w.shard(h)
	s.Mu.Lock()
	i := w.find(s, x, h, k)
	if i == 0 {
		defer s.Mu.Unlock()
		if s.Closed {
			return false, ErrClosed
		}
		return false, nil
	}
	s.Reschedule(i, s.Timers.Arena().At(i), now, d)
	return true, nil
}

// Remove stops the timer of k and returns its value. It reports whether k was pending.
func (w *Keyed[K, V]) Remove(k K) (v V, ok bool) {
	h, err := w.hash(k)
	if err != nil {
		return v, false
	}
	s, x := w.shard(h)
	s.Mu.Lock()
	i := w.find(s, x, h, k)
	if i == 0 {
		s.Mu.Unlock()
		return v, false
	}
	v = s.Timers.Value(i).val
	x.remove(s.Timers, i)
	s.Discard(i, s.Timers.Arena().At(i))
	s.Counts.Stopped++
	s.Mu.Unlock()
	return v, true
}

// Get returns the value of k and the time until k is due, or 0 if k is already due. It reports whether k is pending.
func (w *Keyed[K, V]) Get(k K) (v V, remaining time.Duration, ok bool) {
	h, err := w.hash(k)
	if err != nil {
		return v, 0, false
	}
	now := w.core.Now()
	s, x := w.shard(h)
	s.Mu.Lock()
	defer s.Mu.Unlock()
	i := w.find(s, x, h, k)
	if i == 0 {
		return v, 0, false
	}
	left := s.Timers.Arena().At(i).Key - now
	return s.Timers.Value(i).val, time.Duration(max(0, left)), true
}

// Value is like Get, without the remaining time, and does not read the clock. A timer that is due is pending until it
// is dispatched.
func (w *Keyed[K, V]) Value(k K) (v V, ok bool) {
	h, err := w.hash(k)
	if err != nil {
		return v, false
	}
	s, x := w.shard(h)
	s.Mu.Lock()
	i := w.find(s, x, h, k)
	if i != 0 {
		v = s.Timers.Value(i).val
	}
	s.Mu.Unlock()
	return v, i != 0
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

// shard returns the shard of the keys with hash h, and the index of that shard. The number of the shard is in the high
// bits of h, since the index uses the low bits.
func (w *Keyed[K, V]) shard(h uint64) (*engine.Shard[entry[K, V]], *index[K, V]) {
	i := int(h>>32) & (len(w.index) - 1)
	return w.core.Shards[i], &w.index[i]
}

// find returns the timer of k, or 0. The lock of s must be held.
func (w *Keyed[K, V]) find(s *engine.Shard[entry[K, V]], x *index[K, V], h uint64, k K) uint32 {
	if s.Timers == nil {
		return 0
	}
	return x.find(s.Timers, uint32(h), k)
}

// addToIndex adds a timer that was set to the index.
func (w *Keyed[K, V]) addToIndex(shard int, i uint32) {
	t := w.core.Shards[shard].Timers
	if e := t.Value(i); e.key == e.key {
		w.index[shard].insert(t, i)
	}
}

// unindex removes a timer that is about to fire from the index.
func (w *Keyed[K, V]) unindex(shard int, i uint32) {
	t := w.core.Shards[shard].Timers
	if e := t.Value(i); e.key == e.key {
		w.index[shard].remove(t, i)
	}
}
