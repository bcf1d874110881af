package executor

import (
	"context"
	"runtime/debug"
	"runtime/pprof"
)

// makeAsNew removes from a goroutine what a callback may have left behind in it: profiler labels, and
// debug.SetPanicOnFault. It returns false if the goroutine must end, and its thread with it, because the callback
// has left it locked to its thread.
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
