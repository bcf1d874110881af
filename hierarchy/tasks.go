package hierarchy

import (
	"context"
	"runtime/debug"
	"runtime/pprof"
	"sync/atomic"
)

// tasks are callbacks that fell due together. One goroutine calls them in turn, which costs a
// fraction of what starting a goroutine for each does. But no callback may wait for another.
// So before a goroutine calls the first one, it starts the next goroutine. That one waits in
// the scheduler's queue, and goes on with the tasks when a callback blocks or another
// processor has nothing to do. It runs no later than a goroutine that was started for the
// task would run. Most of the time it finds that all is done.
//
// A callback can't tell that its goroutine has called others before. What belongs to a
// goroutine is as in a new one: its profiler labels, whether a fault is a panic, and the
// operating system's thread. If a callback leaves the thread locked, no other is called there.
type tasks[T any] struct {
	core   *core[T]
	values []T // each is cleared when it is taken, so that it can be collected
	goOn   func()
	taken  atomic.Int32 // how many have been taken; beyond len(values) when all have
	ended  atomic.Int32 // of these, how many have ended since that was told to inFlight
}

// runTogether calls the callbacks of values, which are counted as queued, in other goroutines.
// It takes over values.
func (c *core[T]) runTogether(values []T) {
	if !knowsLockedThread || len(values) == 1 {
		for _, v := range values {
			go c.runAlone(v)
		}
		return
	}
	b := &tasks[T]{core: c, values: values}
	b.goOn = b.run
	go b.goOn()
}

// runAlone calls the callback of v, which is counted as queued.
func (c *core[T]) runAlone(v T) {
	c.inFlight.start()
	defer c.inFlight.finish()
	c.invoke(v)
}

// run calls the callbacks that are left.
func (b *tasks[T]) run() {
	i := b.take()
	b.countEnded() // for a goroutine that blocks, too
	if i == allTaken {
		return
	}
	if i < len(b.values)-1 {
		go b.goOn()
	}
	b.core.inFlight.start()
	defer func() {
		if i != allTaken { // the callback has exited the goroutine
			b.ended.Add(1)
		}
		b.core.inFlight.rest()
		b.countEnded()
	}()
	for ; i != allTaken; i = b.next() {
		b.call(i)
	}
}

// take takes the next task, and returns its index, or allTaken.
func (b *tasks[T]) take() int {
	if i := int(b.taken.Add(1)) - 1; i < len(b.values) {
		return i
	}
	return allTaken
}

const allTaken = -1

// call calls the callback of task i.
func (b *tasks[T]) call(i int) {
	v := b.values[i]
	var none T
	b.values[i] = none
	b.core.invoke(v)
}

// next ends a task and takes the next one, if the goroutine is fit to go on.
func (b *tasks[T]) next() int {
	b.ended.Add(1)
	if lockedOSThread() {
		return allTaken
	}
	debug.SetPanicOnFault(false)
	pprof.SetGoroutineLabels(context.Background())
	return b.take()
}

// countEnded tells inFlight what has ended.
func (b *tasks[T]) countEnded() {
	if n := b.ended.Swap(0); n > 0 {
		b.core.inFlight.end(int64(n))
	}
}
