package hierarchy

import (
	"iter"
	"time"
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
		c := w.table.Cursor()
		some, ok := c.Take(nil)
		for ; ok; some, ok = c.Take(some[:0]) {
			for _, t := range some {
				if !yield(t.Key, Entry[V]{t.Value, wall(t.Deadline)}) {
					return
				}
			}
		}
	}
}

// Entry is the value of a key, and the time at which the key is due.
type Entry[V any] struct {
	Value V
	Due   time.Time // the deadline by the wall clock, as of the call that returned the Entry
}
