package hierarchy

import "github.com/epicycle-go/epicycle/hierarchy/internal/executor"

// relay runs tasks for Go. One goroutine calls them in turn, which costs a fraction of what
// starting a goroutine for each does. But no callback may wait for another. So before a
// goroutine calls the first one, it starts the next goroutine. That one waits in the
// scheduler's queue, and goes on with the tasks when a callback blocks, or another processor
// has nothing to do. So no task begins later than in a goroutine of its own. Most of the time
// the next goroutine finds that all is done.
//
// A callback can't tell that its goroutine has called others before. What belongs to a
// goroutine is as in a new one: its profiler labels, whether a fault is a panic, and the
// operating system's thread. If a callback leaves the thread locked, no other is called there.
type relay[T any] struct {
	tasks[T]
	goOn func() // is run
}

// relay calls the callbacks of values, which are counted as queued, in other goroutines. It takes
// over values.
func (c *core[T]) relay(values []T) {
	if !executor.KnowsLockedThread {
		for _, v := range values {
			go c.runAlone(v)
		}
		return
	}
	r := &relay[T]{tasks: tasks[T]{core: c, values: values}}
	r.goOn = r.run
	go r.goOn()
}

// runAlone calls the callback of v, which is counted as queued.
func (c *core[T]) runAlone(v T) {
	executor.ForgetLabels()
	c.inFlight.start()
	defer c.inFlight.finish()
	c.invoke(v)
}

// run calls the callbacks that are left. While it does, one of the tasks is counted for this
// goroutine, and it is the goroutine that runs or ends.
func (r *relay[T]) run() {
	i := r.take()
	r.countEnded() // also for a goroutine that blocks in the last task
	if i == allTaken {
		return
	}
	executor.ForgetLabels()
	if i < len(r.values)-1 {
		go r.goOn()
	}
	r.core.inFlight.start()
	defer func() { // also if a callback exits the goroutine
		r.countEnded()
		r.core.inFlight.finish()
	}()
	for ; i != allTaken; i = r.takeNext() {
		if r.call(i); !executor.MakeAsNew() {
			return
		}
	}
}

// countEnded tells inFlight what has ended.
func (r *relay[T]) countEnded() {
	if n := r.takeEnded(); n > 0 {
		r.core.inFlight.end(n)
	}
}
