package engine

import (
	"sync/atomic"

	"github.com/epicycle-go/epicycle/hierarchy/internal/executor"
)

// submit gives the callback of v, which is counted as queued, to the executor. If the executor panics before it calls
// the task, the task is never called.
func (c *Core[T]) submit(v T) {
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

// newRelay returns a relay for the callbacks of values, which are counted as queued. The caller must not use values
// afterwards.
func (c *Core[T]) newRelay(values []T) *executor.Relay[T] {
	return executor.NewRelay((*tasksOf[T])(c), values)
}

// runAlone calls the callback of v, which is counted as queued, in a goroutine of its own.
func (c *Core[T]) runAlone(v T) { executor.Alone((*tasksOf[T])(c), v) }

// poolTogether gives the callbacks of values, which are counted as queued, to the Pool. The caller must not use values
// afterwards.
func (c *Core[T]) poolTogether(values []T) {
	executor.Queue(c.pool, (*tasksOf[T])(c), values, c.dispatched())
}

// tasksOf is the interface of a Core to package executor.
type tasksOf[T any] Core[T]

func (w *tasksOf[T]) Call(v T)              { (*Core[T])(w).invoke(v) }
func (w *tasksOf[T]) Start()                { w.inFlight.start() }
func (w *tasksOf[T]) Finish()               { w.inFlight.finish() }
func (w *tasksOf[T]) End(n int64)           { w.inFlight.end(n) }
func (w *tasksOf[T]) Waits() executor.Waits { return w.waits.own() }
