package hierarchy

import (
	"context"
	"hash/maphash"
	"reflect"
	"time"
)

// Keyed is a wheel whose timers have names. All methods may be called
// concurrently, also inside callbacks. A call costs a hash of the key and one
// lock; in the steady state nothing is allocated. A Keyed is made by NewKeyed: a zero
// one panics.
//
// A key unequal to itself (NaN) names nothing: each Set makes a new timer,
// which fires, and which nothing but Drain and Stop can take back.
type Keyed[K comparable, V any] struct {
	core  *core[entry[K, V]]
	index []index[K, V] // by shard, guarded by its lock
	seed  maphash.Seed
	wary  bool // keys may hold what can't be compared
}

// NewKeyed makes a wheel that calls fire with the key and value of each timer.
// When fire is called, the key is free again. The error is ErrNilFunc, or ErrArgument
// as with New.
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
		core: c, index: make([]index[K, V], len(c.shards)), seed: maphash.MakeSeed(),
		wary: mayPanic(reflect.TypeFor[K]()),
	}
	c.onFire = w.unindex
	c.onDetach = func(shard int) { w.index[shard] = index[K, V]{} }
	return w, nil
}

// shardsForKeys is how many shards a Keyed has, as keys don't keep to cores: with
// one a core, every other call of two cores would meet the other's. All of them
// are looked at for what comes next, so there are not many.
func shardsForKeys() int { return max(min(8*chosenShards(), 32), chosenShards()) }

// Set sets the timer of k to v after d, or replaces its value and deadline if k
// is pending. If d <= 0 it is due at once, but fire is never called inside the call;
// so it is with Swap and Move. The error is ErrClosed, ErrFull, or ErrArgument if k
// can't be compared.
func (w *Keyed[K, V]) Set(k K, v V, d time.Duration) error {
	_, _, err := w.Swap(k, v, d)
	return err
}

// Swap is Set that returns the value that was replaced, if k was pending.
func (w *Keyed[K, V]) Swap(k K, v V, d time.Duration) (old V, replaced bool, err error) {
	h, err := w.hash(k)
	if err != nil {
		return old, false, err
	}
	now := w.core.now()
	deadline := deadlineAfter(now, d)
	s, x := w.shard(h)
	s.mu.Lock()
	if i := w.find(s, x, h, k); i != 0 {
		e := s.timers.Value(i)
		old, e.val = e.val, v
		s.counts.moved++
		s.move(i, s.timers.Arena().At(i), now, deadline)
		s.unlock(deadline)
		return old, true, nil
	}
	if err := s.admit(0); err != nil {
		s.mu.Unlock()
		return old, false, err
	}
	i, _, wakeAt := s.set(entry[K, V]{key: k, val: v, hash: uint32(h)}, now, deadline, 0)
	if k == k {
		x.insert(s.timers, i)
	}
	s.unlock(wakeAt)
	return old, false, nil
}

// Move gives the timer of k a new deadline, d from now. It is false if k is not
// pending. The error is ErrClosed, or ErrArgument if k can't be compared.
func (w *Keyed[K, V]) Move(k K, d time.Duration) (bool, error) {
	h, err := w.hash(k)
	if err != nil {
		return false, err
	}
	now := w.core.now()
	s, x := w.shard(h)
	s.mu.Lock()
	i := w.find(s, x, h, k)
	if i == 0 {
		defer s.mu.Unlock()
		if s.closed {
			return false, ErrClosed
		}
		return false, nil
	}
	s.counts.moved++
	deadline := deadlineAfter(now, d)
	s.move(i, s.timers.Arena().At(i), now, deadline)
	s.unlock(deadline)
	return true, nil
}

// Remove takes back the timer of k and returns its value. It is false if k is
// not pending.
func (w *Keyed[K, V]) Remove(k K) (v V, ok bool) {
	h, err := w.hash(k)
	if err != nil {
		return v, false
	}
	s, x := w.shard(h)
	s.mu.Lock()
	i := w.find(s, x, h, k)
	if i == 0 {
		s.mu.Unlock()
		return v, false
	}
	v = s.timers.Value(i).val
	x.remove(s.timers, i)
	s.discard(i, s.timers.Arena().At(i))
	s.counts.stopped++
	s.mu.Unlock()
	return v, true
}

// Get returns the value of k and the time until it is due (0 if it is due). It
// is false if k is not pending.
func (w *Keyed[K, V]) Get(k K) (v V, remaining time.Duration, ok bool) {
	h, err := w.hash(k)
	if err != nil {
		return v, 0, false
	}
	now := w.core.now()
	s, x := w.shard(h)
	s.mu.Lock()
	defer s.mu.Unlock()
	i := w.find(s, x, h, k)
	if i == 0 {
		return v, 0, false
	}
	left := s.timers.Arena().At(i).Key - now
	return s.timers.Value(i).val, time.Duration(max(0, left)), true
}

// Value returns the value of k. It is false if k is not pending; one that is due
// still is, until it is handed over. It is Get for those who do not ask when, and
// costs no reading of the clock.
func (w *Keyed[K, V]) Value(k K) (v V, ok bool) {
	h, err := w.hash(k)
	if err != nil {
		return v, false
	}
	s, x := w.shard(h)
	s.mu.Lock()
	i := w.find(s, x, h, k)
	if i != 0 {
		v = s.timers.Value(i).val
	}
	s.mu.Unlock()
	return v, i != 0
}

// Drain takes all pending timers out at once, then calls fn for each key and
// value, in order of deadline, in the caller's goroutine and with no lock held:
// fn may use the wheel, which goes on. It returns how many there were. A panic
// in fn is treated as a callback's; the rest is still handed over.
func (w *Keyed[K, V]) Drain(fn func(K, V)) int {
	if fn == nil {
		fn = func(K, V) {}
	}
	return w.core.drain(func(e entry[K, V]) { fn(e.key, e.val) })
}

// Len is the number of pending timers.
func (w *Keyed[K, V]) Len() int { return w.core.len() }

// Stats is a snapshot of the wheel's counters.
func (w *Keyed[K, V]) Stats() Stats { return w.core.stats() }

// Circles is a snapshot of where the timers are, finest circle first.
func (w *Keyed[K, V]) Circles() []CircleStats { return w.core.circleStats() }

// Stop drops all pending timers: they never fire. It does not wait for
// callbacks that run. Further calls do nothing.
func (w *Keyed[K, V]) Stop() { w.core.stop() }

// Shutdown stops the wheel, then waits until the callbacks that were handed
// over have returned, or returns ctx's error. Inside a callback it waits for
// that callback too: use Stop, or go Shutdown.
func (w *Keyed[K, V]) Shutdown(ctx context.Context) error { return w.core.shutdown(ctx) }

// shard is where keys of that hash live. The index uses the low bits.
func (w *Keyed[K, V]) shard(h uint64) (*shard[entry[K, V]], *index[K, V]) {
	i := int(h>>32) & (len(w.index) - 1)
	return w.core.shards[i], &w.index[i]
}

// find is the timer of k, or 0. The lock of s must be held.
func (w *Keyed[K, V]) find(s *shard[entry[K, V]], x *index[K, V], h uint64, k K) uint32 {
	if s.timers == nil {
		return 0
	}
	return x.find(s.timers, uint32(h), k)
}

// unindex takes a timer that is about to fire out of the index.
func (w *Keyed[K, V]) unindex(shard int, i uint32) {
	t := w.core.shards[shard].timers
	if e := t.Value(i); e.key == e.key {
		w.index[shard].remove(t, i)
	}
}
