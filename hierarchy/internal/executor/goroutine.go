package executor

import (
	"context"
	"runtime/debug"
	"runtime/pprof"
)

// MakeAsNew removes from a goroutine what a callback may have left behind in it: profiler
// labels, and that a fault is a panic. It is false if the goroutine has to end, and its thread
// with it, as the callback has left it locked to that.
func MakeAsNew() bool {
	if lockedOSThread() {
		return false
	}
	debug.SetPanicOnFault(false)
	ForgetLabels()
	return true
}

// ForgetLabels removes the profiler labels that a goroutine has from the one that started it, which
// may have nothing to do with what it will run. Those of time.AfterFunc have none either.
func ForgetLabels() { pprof.SetGoroutineLabels(context.Background()) }
