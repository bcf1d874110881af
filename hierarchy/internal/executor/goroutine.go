package executor

import (
	"context"
	"runtime"
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

// Alone calls the callback of v, which is counted as queued, in a goroutine of its own.
func Alone[T any](w Wheel[T], v T) {
	forgetLabels()
	w.Start()
	defer w.Finish()
	w.Call(v)
}

// Here is Alone in a goroutine that has other things to do before and after. It exits the goroutine if the callback
// leaves it locked to its thread.
func Here[T any](w Wheel[T], v T) {
	if !makeAsNew() {
		go Alone(w, v)
		return
	}
	Alone(w, v)
	if !makeAsNew() {
		runtime.Goexit()
	}
}
