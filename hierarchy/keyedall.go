package hierarchy

import (
	"iter"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/internal/engine"
	"github.com/epicycle-go/epicycle/hierarchy/internal/timers"
)

// All returns an iterator over the pending keys, in no order, with their values and deadlines. A key that is pending
// throughout is yielded exactly once, however often it is moved. A key that is set meanwhile may be yielded or not, and
// no key is yielded twice.
//
// All reads about a hundred keys at a time. Between these batches no lock is held, and the loop's body may call
// anything. A key may have been moved or removed since its batch was read: use Get to find out. All costs some tens of
// nanoseconds for each key, and memory for one batch.
func (w *Keyed[K, V]) All() iter.Seq2[K, Entry[V]] {
	return func(yield func(K, Entry[V]) bool) {
		wall := w.core.WallTimes()
		var some []taken[K, V]
		for _, s := range w.core.Shards {
			for c := (cursor[K, V]{shard: s}); !c.done; {
				some = c.take(some[:0])
				for _, t := range some {
					if !yield(t.key, Entry[V]{t.val, wall(t.deadline)}) {
						return
					}
				}
			}
		}
	}
}

// taken is what All has read of a timer.
type taken[K comparable, V any] struct {
	key      K
	val      V
	deadline int64
}

// cursor iterates over the timers of one shard in the order of memory. A timer stays at its place in memory as long as
// its key is pending. If all timers of the shard were removed at once, timers that are set later are in other memory,
// and the cursor is done.
type cursor[K comparable, V any] struct {
	shard  *engine.Shard[entry[K, V]]
	timers *timers.Timers[entry[K, V]]
	next   uint32 // index of the timer at which to continue
	latest uint64 // timers made after this one are skipped, since their memory may have been passed
	begun  bool
	done   bool
}

// take appends timers to some. It looks at no more than a batch, so that nobody waits long for the lock.
func (c *cursor[K, V]) take(some []taken[K, V]) []taken[K, V] {
	s := c.shard
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if !c.begun {
		c.begun, c.timers, c.latest = true, s.Timers, s.LatestOrder()
	}
	if c.timers == nil || c.timers != s.Timers {
		c.done = true
		return some
	}
	for left := scanBatch; left > 0 && !c.done; {
		i, next, looked := c.timers.Arena().Live(c.next, left)
		c.next, c.done = next, next == 0
		left -= looked
		if i == 0 {
			continue
		}
		if n := c.timers.Arena().At(i); n.Generation() <= c.latest {
			e := c.timers.Value(i)
			some = append(some, taken[K, V]{e.key, e.val, n.Key})
		}
	}
	return some
}

// scanBatch is the number of entries of memory that All reads while it holds the lock. This takes about 2 µs, during
// which a caller that needs the lock spins. With 1,024 entries, callers went to sleep, and then lost the lock to the
// next batches several times: of calls that moved keys meanwhile, one in a thousand took 250 µs, instead of 4 µs.
const scanBatch = 128

// Drain takes all pending timers out at once, and then calls fn for each key and value, in order of deadline. It
// returns the number of these timers. fn is called in the caller's goroutine with no lock held, and may use the wheel,
// which continues to run.
//
// A panic in fn is treated like a panic in a callback. Even if fn panics or exits its goroutine, it is called for all
// timers. Without Config.OnPanic the first panic then continues in the caller, and further ones are logged. After a
// second exit, fn is called in other goroutines, while the caller's goroutine waits.
func (w *Keyed[K, V]) Drain(fn func(K, V)) int {
	if fn == nil {
		fn = func(K, V) {}
	}
	return w.core.Drain(func(e entry[K, V], _ int64) { fn(e.key, e.val) })
}

// Entry is the value of a key, and the time at which the key is due.
type Entry[V any] struct {
	Value V
	Due   time.Time // the deadline by the wall clock, as of the call that returned the Entry
}

// DrainEntries is like Drain, but fn also gets when each timer was due. With SetAt, each timer can be set again, in
// this process or in its next run.
func (w *Keyed[K, V]) DrainEntries(fn func(K, Entry[V])) int {
	if fn == nil {
		fn = func(K, Entry[V]) {}
	}
	wall := w.core.WallTimes()
	return w.core.Drain(func(e entry[K, V], deadline int64) { fn(e.key, Entry[V]{e.val, wall(deadline)}) })
}
