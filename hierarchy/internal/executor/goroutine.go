package executor

import (
	"context"
	"runtime/debug"
	"runtime/pprof"
)

// makeAsNew removes what a callback may have changed in a goroutine: profiler labels, and debug.SetPanicOnFault. It
// returns false if the goroutine must end, and its thread with it, because the callback has left it locked to its
// thread.
func makeAsNew() bool {
	if lockedOSThread() {
		return false
	}
	debug.SetPanicOnFault(false)
	forgetLabels()
	return true
}

// forgetLabels removes the profiler labels that a goroutine has inherited, which may have nothing to do with what it
// will run. Goroutines of time.AfterFunc have no labels either.
func forgetLabels() { pprof.SetGoroutineLabels(context.Background()) }
