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

// CanRunHere reports whether a relay can run in a goroutine that does other things, too.
const CanRunHere = knowsLockedThread

// NewRelay makes a relay of the callbacks of values, which are counted as queued. The caller must not use values
// afterwards. Either Start or RunHere must be called, once.
func NewRelay[T any](w Wheel[T], values []T) *Relay[T] {
	r := &Relay[T]{tasks: tasks[T]{wheel: w, values: values}}
	r.goOn = r.run
	return r
}

// Start calls the callbacks in other goroutines.
func (r *Relay[T]) Start() {
	if knowsLockedThread {
		go r.goOn()
		return
	}
	for _, v := range r.values {
		go Alone(r.wheel, v)
	}
}

// RunHere calls the callbacks in the calling goroutine, and in others if one of them blocks. It exits the goroutine if
// that is left locked to its thread. RunHere may be called only if CanRunHere.
func (r *Relay[T]) RunHere() {
	if !makeAsNew() {
		r.Start()
	} else if r.run(); !makeAsNew() {
		runtime.Goexit()
	}
}

// Alone calls the callback of v, which is counted as queued, in a goroutine of its own.
func Alone[T any](w Wheel[T], v T) {
	forgetLabels()
	w.Start()
	defer w.Finish()
	w.Call(v)
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
