package hierarchy

import "time"

// Drain takes all pending timers out at once, and then calls fn for each key and value, in order
// of deadline. It returns how many there were. fn is called in the caller's goroutine with
// no lock held, and may use the wheel, which goes on.
//
// A panic in fn is treated as a callback's. Whether fn panics or exits its goroutine, it is
// called for all. Without Config.OnPanic the first panic then goes on in the caller, and
// further ones are logged. After a second exit, fn is called in other goroutines, while
// the caller's waits.
func (w *Keyed[K, V]) Drain(fn func(K, V)) int {
	if fn == nil {
		fn = func(K, V) {}
	}
	return w.core.drain(func(e entry[K, V], _ int64) { fn(e.key, e.val) })
}

// Entry is the value of a key, and when it is due.
type Entry[V any] struct {
	Value V
	Due   time.Time // by the wall clock, as of the call that returned the Entry
}

// DrainEntries is Drain that also tells when each timer was due. SetAt sets it again, in this
// process or the next.
func (w *Keyed[K, V]) DrainEntries(fn func(K, Entry[V])) int {
	if fn == nil {
		fn = func(K, Entry[V]) {}
	}
	wall := w.core.wallTimes()
	return w.core.drain(func(e entry[K, V], deadline int64) { fn(e.key, Entry[V]{e.val, wall(deadline)}) })
}
