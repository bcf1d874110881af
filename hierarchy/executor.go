package hierarchy

import (
	"reflect"
	"sync/atomic"

	"github.com/epicycle-go/epicycle/hierarchy/internal/executor"
)

// Executor runs tasks. It must call each task that it is given exactly once: later, or,
// if it can't, in the call itself. The goroutine that woke the wheel calls it, with no
// lock held, so it should not block. Go and Pool are also called by the goroutine that sets
// what is due already. Any function of a worker pool that takes a func() is an Executor.
type Executor func(task func())

// Go runs each task in its own goroutine, as time.AfterFunc does. If many timers of a wheel are
// due together, one goroutine may run several of their callbacks, one after the other, while
// others stand by. Still none waits for another, and what it does to its goroutine is its own.
func Go(task func()) { go task() }

// Inline runs each task in the goroutine that woke the wheel. It is the cheapest executor,
// and the callbacks of one wheel never overlap. Use it for callbacks that never block: all
// other timers of the wheel wait for them. What a callback leaves in that goroutine, such as
// profiler labels, the next callback may find there.
func Inline(task func()) { task() }

// Pool is an Executor that runs at most workers tasks at once, over all wheels that share
// it. Further tasks wait in the order in which they came, and are counted in each wheel's
// Stats.Queued. It never blocks the wheel: what it can't run yet waits in memory, and
// Config.MaxQueued limits how much. Stats.Waited is how long callbacks have waited. A worker
// ends when no task is left, so an idle pool has no goroutine and needs no closing. Pool
// panics if workers <= 0.
func Pool(workers int) Executor {
	if workers <= 0 {
		panic("hierarchy: Pool needs at least one worker")
	}
	return executor.NewPool(workers)
}

// isInline recognises Inline, for which the wheel needs no closure per task.
func isInline(e Executor) bool {
	return codeOf(e) == codeOf(Inline)
}

// isGo recognises Go.
func isGo(e Executor) bool { return codeOf(e) == codeOf(Go) }

// codeOf is the address of the code of a function, which all functions of one literal share.
func codeOf(f any) uintptr { return reflect.ValueOf(f).Pointer() }

// submit gives the callback of v, which is counted as queued, to the executor. If that
// panics, a task that was not called yet never will be.
func (c *core[T]) submit(v T) {
	switch {
	case c.isGo:
		go c.runAlone(v)
		return
	case c.pool != nil:
		c.poolTogether([]T{v})
		return
	}
	since := c.dispatched()
	var called atomic.Bool
	accepted := false
	defer func() {
		if !accepted && called.CompareAndSwap(false, true) {
			c.inFlight.drop()
		}
	}()
	c.execute(func() {
		if !called.CompareAndSwap(false, true) {
			panic("hierarchy: an Executor called a task twice")
		}
		c.began(since)
		c.inFlight.start()
		defer c.inFlight.finish()
		c.mock.run(func() { c.invoke(v) })
	})
	accepted = true
}

// relay gives the callbacks of values, which are counted as queued, to Go. It takes over values.
func (c *core[T]) relay(values []T) { executor.Relay((*tasksOf[T])(c), values) }

// runAlone calls the callback of v, which is counted as queued, in a goroutine of its own.
func (c *core[T]) runAlone(v T) { executor.Alone((*tasksOf[T])(c), v) }

// poolTogether gives the callbacks of values, which are counted as queued, to the Pool. It takes
// over values.
func (c *core[T]) poolTogether(values []T) {
	executor.Queue(c.pool, (*tasksOf[T])(c), values, c.dispatched())
}

// tasksOf is a core as package executor sees it.
type tasksOf[T any] core[T]

func (w *tasksOf[T]) Call(v T)              { (*core[T])(w).invoke(v) }
func (w *tasksOf[T]) Start()                { w.inFlight.start() }
func (w *tasksOf[T]) Finish()               { w.inFlight.finish() }
func (w *tasksOf[T]) End(n int64)           { w.inFlight.end(n) }
func (w *tasksOf[T]) Waits() executor.Waits { return w.waits.own() }
