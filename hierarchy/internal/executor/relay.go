package executor

import "runtime"

// Relay runs tasks for Go. One goroutine calls them in turn, which costs a fraction of starting a goroutine for each.
// But no callback may wait for another. So before a goroutine calls its first callback, it starts the next goroutine.
// The next goroutine waits in the scheduler's queue. It continues with the tasks when a callback blocks, or when
// another processor is idle. So no task begins later than in a goroutine of its own. Most of the time the next
// goroutine finds that all tasks are done.
//
// A callback can't tell that its goroutine has called others before. The state of the goroutine is as in a new one: its
// profiler labels, whether a fault is a panic, and the operating system's thread. If a callback leaves the thread
// locked, no other callback is called there.
type Relay[T any] struct {
	tasks[T]
	goOn func() // the method run
}

// NewRelay returns a relay that calls the callbacks of values, which are counted as queued. The caller must not use
// values afterwards.
func NewRelay[T any](w Wheel[T], values []T) *Relay[T] {
	r := &Relay[T]{tasks: tasks[T]{wheel: w, values: values}}
	r.goOn = r.run
	return r
}

// Go calls the callbacks in other goroutines. Only one of Go and Here may be called, and only once.
func (r *Relay[T]) Go() { go r.goOn() }

// Here calls the callbacks in this goroutine, which has other things to do before and after, and in others. It exits the
// goroutine if a callback leaves it locked to its thread.
func (r *Relay[T]) Here() {
	if !makeAsNew() {
		r.Go()
		return
	}
	if r.run(); !makeAsNew() {
		runtime.Goexit()
	}
}

// run calls the callbacks that are left. Meanwhile, the wheel counts one running task for this goroutine.
func (r *Relay[T]) run() {
	i := r.take()
	r.countEnded() // reported now, since this goroutine may block in the last task
	if i == allTaken {
		return
	}
	forgetLabels()
	if i < len(r.values)-1 {
		go r.goOn()
	}
	r.wheel.Start()
	defer func() { // also if a callback exits the goroutine
		r.countEnded()
		r.wheel.Finish()
	}()
	for ; i != allTaken; i = r.takeNext() {
		if r.call(i); !makeAsNew() {
			return
		}
	}
}

// countEnded reports the tasks that have ended to the wheel.
func (r *Relay[T]) countEnded() {
	if n := r.takeEnded(); n > 0 {
		r.wheel.End(n)
	}
}
