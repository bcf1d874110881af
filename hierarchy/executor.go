package hierarchy

import "reflect"

// Executor runs tasks. It must call each task that it is given exactly once: later, or,
// if it can't, in the call itself. The goroutine that woke the wheel calls it, with no
// lock held, so it should not block. Go and Pool are also called by the goroutine that sets
// what is due already. Any function of a worker pool that takes a func() is an Executor.
type Executor func(task func())

// Go runs each task in its own goroutine, as time.AfterFunc does.
func Go(task func()) { go task() }

// Inline runs each task in the goroutine that woke the wheel. It is the cheapest executor,
// and the callbacks of one wheel never overlap. Use it for callbacks that never block: all
// other timers of the wheel wait for them.
func Inline(task func()) { task() }

// isInline recognises Inline, for which the wheel needs no closure per task.
func isInline(e Executor) bool {
	return codeOf(e) == codeOf(Inline)
}

// takesAtOnce recognises Go and every Pool: they never block, and never run a task in the
// call that gives it to them.
func takesAtOnce(e Executor) bool {
	return isGo(e) || codeOf(e) == codeOf(Pool(1))
}

// isGo recognises Go, for which the wheel starts goroutines itself.
func isGo(e Executor) bool { return codeOf(e) == codeOf(Go) }

// codeOf is the address of the code of a function, which all functions of one literal share.
func codeOf(f any) uintptr { return reflect.ValueOf(f).Pointer() }
