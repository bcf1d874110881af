package executor

import (
	"context"
	"runtime/debug"
	"runtime/pprof"
)

// lockedOSThread reports whether the goroutine may be locked to its thread by runtime.LockOSThread. locked_gc.go sets it
// to a function that knows.
var lockedOSThread = mayBeLocked

// mayBeLocked is lockedOSThread where nothing tells. So each callback gets a goroutine of its own there.
func mayBeLocked() bool { return true }

// makeAsNew removes what a callback may have changed in a goroutine: profiler labels, and debug.SetPanicOnFault. It
// returns false if the goroutine must end, and its thread with it, because the callback may have left it locked to its
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
