package hierarchy

import (
	"iter"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/internal/keys"
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
	return w.core.Drain(func(e keys.Entry[K, V], _ int64) { fn(e.Key, e.Value) })
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
	return w.core.Drain(func(e keys.Entry[K, V], deadline int64) { fn(e.Key, Entry[V]{e.Value, wall(deadline)}) })
}
