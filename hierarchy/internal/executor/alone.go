package executor

import "runtime"

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
