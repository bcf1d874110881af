package executor

import (
	"context"
	"runtime/debug"
	"runtime/pprof"
)

// makeAsNew removes from a goroutine what a callback may have left behind in it: profiler
// labels, and that a fault is a panic. It is false if the goroutine has to end, and its thread
// with it, as the callback has left it locked to that.
func makeAsNew() bool {
	if lockedOSThread() {
		return false
	}
	debug.SetPanicOnFault(false)
	forgetLabels()
	return true
}

// forgetLabels removes the profiler labels that a goroutine has from the one that started it, which
// may have nothing to do with what it will run. Those of time.AfterFunc have none either.
func forgetLabels() { pprof.SetGoroutineLabels(context.Background()) }
