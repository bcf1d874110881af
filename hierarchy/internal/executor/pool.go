package executor

import (
	"reflect"
	"sync"
	"sync/atomic"
)

// Pool runs a limited number of tasks at once, in the order in which they came.
type Pool struct {
	mu sync.Mutex
	// idle is the number of further workers that may be started. Guarded by mu. Invariant: if idle is above 0 and work
	// is left, a worker is coming.
	idle   int
	coming bool      // guarded by mu; whether a worker was started that has not looked for work yet
	queue  workQueue // guarded by mu; only the first work in it may have no task left
}

// work is a list of tasks of a wheel, or a single task that something else gave to the Executor.
type work interface {
	left() int // the number of tasks that were not taken
	// run takes tasks and calls them until none is left. It reports whether the goroutine can call other tasks
	// afterwards.
	run() (fit bool)
}

// NewPool makes a Pool with the given number of workers, and returns the function that gives the Pool a task.
func NewPool(workers int) (execute func(task func())) {
	p := &Pool{idle: workers}
	return p.execute
}

// execute runs a task.
func (p *Pool) execute(task func()) {
	if task == nil {
		panic(nilTask{p})
	}
	p.add(&single{task: task})
}

// nilTask is the panic value of a Pool that is given a nil task.
type nilTask struct{ pool *Pool }

func (nilTask) Error() string { return "hierarchy: a Pool was given a nil task" }

// PoolOf returns the Pool of which execute is the method, or nil. A method value does not reveal its receiver. So
// execute is called with a nil task, but only if its code shows that it is the method of a Pool; no other function is
// called.
func PoolOf(execute func(task func())) (p *Pool) {
	if codeOf(execute) != codeOf(new(Pool).execute) {
		return nil
	}
	defer func() { p = recover().(nilTask).pool }()
	execute(nil)
	return nil
}

// codeOf returns the address of the code of a function, which all methods of one name share.
func codeOf(f func(task func())) uintptr { return reflect.ValueOf(f).Pointer() }

// Queue runs the callbacks of values, which have been counted as queued since the time since. The caller must not use
// values afterwards.
func Queue[T any](p *Pool, w Wheel[T], values []T, since int64) {
	p.add(&pooled[T]{tasks[T]{wheel: w, values: values}, since})
}

// add gives work to the workers.
func (p *Pool) add(w work) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.queue.push(w)
	p.callWorker()
}

// callWorker starts a worker, unless no further worker may be started or a worker is already coming. Each worker that
// finds more than one task when it starts calls the next worker. mu must be held.
func (p *Pool) callWorker() {
	if p.idle > 0 && !p.coming {
		p.idle--
		p.coming = true
		go p.work()
	}
}

// work calls tasks until none is left. If a task exits its goroutine, or leaves it unfit for
// others, another worker takes the place of this one.
func (p *Pool) work() {
	finished := false
	defer func() {
		if !finished {
			go p.work()
		}
	}()
	forgetLabels()
	for w := p.first(); w != nil; w = p.first() {
		if !w.run() {
			return
		}
	}
	finished = true
}

// first returns the work to do next. If it returns nil, the worker that called it must end.
func (p *Pool) first() work {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.coming = false
	for !p.queue.empty() {
		w := p.queue.first()
		if n := w.left(); n > 0 {
			if n > 1 || p.queue.more() {
				p.callWorker()
			}
			return w
		}
		p.queue.drop()
	}
	p.idle++
	return nil
}

// single is the work of one task.
type single struct {
	task  func()
	taken atomic.Bool
}

func (s *single) left() int {
	if s.taken.Load() {
		return 0
	}
	return 1
}

func (s *single) run() bool {
	if s.taken.Swap(true) {
		return true
	}
	s.task()
	return makeAsNew()
}

// pooled is a list of tasks of a wheel for a Pool.
type pooled[T any] struct {
	tasks[T]
	since int64
}

// run calls the tasks one after the other. So it counts exactly one task as running, from the first to the last.
func (p *pooled[T]) run() bool {
	i := p.take()
	if i == allTaken {
		return true
	}
	p.wheel.Start()
	defer p.wheel.Finish() // also if a callback exits the goroutine
	for waits := p.wheel.Waits(); ; {
		waits.Began(p.since)
		if p.call(i); !makeAsNew() {
			return false
		}
		if i = p.take(); i == allTaken {
			return true
		}
		p.wheel.End(1) // the task before this one
	}
}
