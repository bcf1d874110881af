package hierarchy

import (
	"reflect"

	"github.com/epicycle-go/epicycle/hierarchy/internal/executor"
)

// Executor runs tasks. It must call each task exactly once: later or, if that is not possible, within the call. The
// goroutine that woke the wheel calls the Executor, with no lock held, so the Executor should not block. Go and Pool
// are also called by the goroutine that sets a timer that is already due. Any function of a worker pool that takes a
// func() is an Executor. Pass Go, Inline and the result of Pool as they are: a wheel recognises them, and then does
// their work itself, for many callbacks at once.
type Executor func(task func())

// Go runs each task in its own goroutine, as time.AfterFunc does. If many timers of a wheel are due together, one
// goroutine may run several of their callbacks, one after the other, while others stand by. Still, no callback waits
// for another, and what one callback changes in its goroutine affects no other callback.
func Go(task func()) { go task() }

// Inline runs each task in the goroutine that woke the wheel. It is the cheapest executor,
// and the callbacks of one wheel never overlap. Use it for callbacks that never block: all
// other timers of the wheel wait for them. What a callback leaves in that goroutine, such as
// profiler labels, the next callback may find there.
func Inline(task func()) { task() }

// Pool returns an Executor that runs at most workers tasks at once, over all wheels that share it. Further tasks wait
// in the order in which they came, and are counted in each wheel's Stats.Queued. It never blocks the wheel: tasks that
// it can't run yet wait in memory, and Config.MaxQueued limits their number. Stats.Waited is a histogram of the times
// that callbacks have waited. A worker ends when no task is left, so an idle pool has no goroutine and needs no
// closing. Pool panics if workers <= 0.
func Pool(workers int) Executor {
	if workers <= 0 {
		panic("hierarchy: Pool needs at least one worker")
	}
	return executor.NewPool(workers)
}

// isGo and isInline recognise Go and Inline by their code. To the wheel, a function that calls one of them is an
// executor like any other: the same callbacks run, at more cost.
func isGo(e Executor) bool     { return codeOf(e) == codeOf(Go) }
func isInline(e Executor) bool { return codeOf(e) == codeOf(Inline) }

// codeOf returns the address of the code of a function, which all functions of one literal share.
func codeOf(f any) uintptr { return reflect.ValueOf(f).Pointer() }
