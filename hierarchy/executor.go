package hierarchy

import "reflect"

// Executor runs tasks: it must see that the task it is given is called exactly
// once; if it can't later, in the call itself. It is called by the goroutine
// that woke the wheel, with no lock held, and should not block. Any function
// of a worker pool that takes a func() is one.
type Executor func(task func())

// Go runs each task in its own goroutine, as time.AfterFunc does.
func Go(task func()) { go task() }

// Inline runs each task in the goroutine that woke the wheel, which is the
// cheapest way and the only one in which the callbacks of one wheel never
// overlap. It is for callbacks that never block: all timers of the wheel wait
// for them.
func Inline(task func()) { task() }

// isInline recognises Inline, for which the wheel needs no closure per task.
func isInline(e Executor) bool {
	return reflect.ValueOf(e).Pointer() == reflect.ValueOf(Inline).Pointer()
}
