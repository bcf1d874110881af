package hierarchy

import (
	"sync"
	"sync/atomic"

	"github.com/epicycle-go/epicycle/hierarchy/internal/executor"
)

// Pool is an Executor that runs at most workers tasks at once, over all wheels that share
// it. Further tasks wait in the order in which they came, and are counted in each wheel's
// Stats.Queued. It never blocks the wheel: what it can't run yet waits in memory, and
// Config.MaxQueued limits how much. Stats.Waited is how long callbacks have waited. A worker ends when no task is left, so an idle
// pool has no goroutine and needs no closing. Pool panics if workers <= 0.
func Pool(workers int) Executor {
	if workers <= 0 {
		panic("hierarchy: Pool needs at least one worker")
	}
	p := &pool{idle: workers}
	return p.execute
}

type pool struct {
	mu sync.Mutex
	// idle is how many more workers may be started.
	// Invariant: if it is above 0 and work is left, a worker is coming. Guarded by mu.
	idle   int
	coming bool      // guarded by mu; a worker has been started that has not looked for work
	queue  workQueue // guarded by mu; only its first may have no task left
}

// work is tasks of a wheel, or a task that something else gave to the Executor.
type work interface {
	left() int // how many tasks were not taken
	// run takes tasks and calls them until none is left. It reports whether the goroutine can
	// call others then.
	run() (fit bool)
}

// execute is the Executor. poolOf calls it without a task.
func (p *pool) execute(task func()) {
	if task == nil {
		tellPool(p)
		return
	}
	p.add(&single{task: task})
}

// add gives work to the workers.
func (p *pool) add(w work) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.queue.push(w)
	p.callWorker()
}

// callWorker starts a worker, unless none may be started or one is coming. Each worker that
// comes and finds more than one task calls the next. mu must be held.
func (p *pool) callWorker() {
	if p.idle > 0 && !p.coming {
		p.idle--
		p.coming = true
		go p.work()
	}
}

// work calls tasks until none is left. If a task exits its goroutine, or leaves it unfit for
// others, another worker takes the place of this one.
func (p *pool) work() {
	finished := false
	defer func() {
		if !finished {
			go p.work()
		}
	}()
	executor.ForgetLabels()
	for w := p.first(); w != nil; w = p.first() {
		if !w.run() {
			return
		}
	}
	finished = true
}

// first is the work to do next, or nil: then the worker that called must end.
func (p *pool) first() work {
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
	return executor.MakeAsNew()
}

// pooled is tasks of a wheel for a Pool.
type pooled[T any] struct {
	tasks[T]
	since int64
}

// poolTogether gives the callbacks of values, which are counted as queued, to the Pool. It takes
// over values.
func (c *core[T]) poolTogether(values []T) {
	c.pool.add(&pooled[T]{tasks[T]{core: c, values: values}, c.dispatched()})
}

// run counts one task as running from the first to the last, as it goes from one to the next.
func (p *pooled[T]) run() bool {
	i := p.take()
	if i == allTaken {
		return true
	}
	c := p.core
	c.inFlight.start()
	defer c.inFlight.finish() // also if a callback exits the goroutine
	for waits := c.waits.own(); ; {
		waits.add(c.now() - p.since)
		if p.call(i); !executor.MakeAsNew() {
			return false
		}
		if i = p.take(); i == allTaken {
			return true
		}
		c.inFlight.end(1) // the one before
	}
}
