package hierarchy

import (
	"context"
	"runtime/debug"
	"runtime/pprof"
	"sync/atomic"
)

// tasks are callbacks that fell due together, and are counted as queued. Go and Pool get many
// at once, which is cheaper than one at a time. Each is taken by one goroutine, which calls it.
type tasks[T any] struct {
	core   *core[T]
	values []T
	taken  atomic.Int32 // how many have been taken, or more than there are
}

// allTaken is what take returns when no task is left.
const allTaken = -1

// take takes the next task, and returns its index.
func (t *tasks[T]) take() int {
	if i := int(t.taken.Add(1)) - 1; i < len(t.values) {
		return i
	}
	return allTaken
}

// left is how many tasks were not taken.
func (t *tasks[T]) left() int { return max(0, len(t.values)-int(t.taken.Load())) }

// call calls task i, which the caller has taken. What it held can be collected then, although
// other tasks have not ended.
func (t *tasks[T]) call(i int) {
	v := t.values[i]
	var none T
	t.values[i] = none
	t.core.invoke(v)
}

// makeAsNew removes from a goroutine what a callback may have left behind in it: profiler
// labels, and that a fault is a panic. It is false if the goroutine has to end, and its thread
// with it, as the callback has left it locked to that.
func makeAsNew() bool {
	if lockedOSThread() {
		return false
	}
	debug.SetPanicOnFault(false)
	pprof.SetGoroutineLabels(context.Background())
	return true
}
