package hierarchy

import "github.com/epicycle-go/epicycle/hierarchy/internal/keys"

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

// DrainEntries is like Drain, but fn also gets when each timer was due. With SetAt, each timer can be set again, in
// this process or in its next run.
func (w *Keyed[K, V]) DrainEntries(fn func(K, Entry[V])) int {
	if fn == nil {
		fn = func(K, Entry[V]) {}
	}
	wall := w.core.WallTimes()
	return w.core.Drain(func(e keys.Entry[K, V], deadline int64) { fn(e.Key, Entry[V]{e.Value, wall(deadline)}) })
}
