package hierarchy

import "sync"

// Pool is an Executor that runs at most workers tasks at once, over all wheels that share
// it. Further tasks wait in the order in which they came, and are counted in each wheel's
// Stats.Queued. It never blocks the wheel. A worker ends when no task is left, so an idle
// pool has no goroutine and needs no closing. Pool panics if workers <= 0.
func Pool(workers int) Executor {
	if workers <= 0 {
		panic("hierarchy: Pool needs at least one worker")
	}
	p := &pool{idle: workers}
	return p.execute
}

type pool struct {
	mu    sync.Mutex
	idle  int       // guarded by mu; how many more workers may be started
	queue taskQueue // guarded by mu; Invariant: it is empty if idle > 0
}

func (p *pool) execute(task func()) {
	p.mu.Lock()
	if p.idle == 0 {
		p.queue.push(task)
		p.mu.Unlock()
		return
	}
	p.idle--
	p.mu.Unlock()
	go p.work(task)
}

// work runs task and then the queued tasks. A task that exits its goroutine ends this
// worker, so another one is started in its place.
func (p *pool) work(task func()) {
	returned := false
	defer func() {
		if !returned {
			if next := p.next(); next != nil {
				go p.work(next)
			}
		}
	}()
	for ; task != nil; task = p.next() {
		task()
	}
	returned = true
}

// next is the next task, or nil: then the worker that called must end.
func (p *pool) next() func() {
	p.mu.Lock()
	defer p.mu.Unlock()
	task := p.queue.pop()
	if task == nil {
		p.idle++
	}
	return task
}

// taskQueue is a first-in-first-out queue in blocks, each of which is freed when it is
// empty. The zero taskQueue is empty.
type taskQueue struct {
	first, last *taskBlock
}

type taskBlock struct {
	tasks    [255]func()
	from, to int // tasks[from:to] are queued
	next     *taskBlock
}

func (q *taskQueue) push(task func()) {
	if q.last == nil || q.last.to == len(q.last.tasks) {
		b := new(taskBlock)
		if q.last == nil {
			q.first = b
		} else {
			q.last.next = b
		}
		q.last = b
	}
	q.last.tasks[q.last.to] = task
	q.last.to++
}

func (q *taskQueue) pop() func() {
	b := q.first
	if b == nil {
		return nil
	}
	task := b.tasks[b.from]
	b.tasks[b.from] = nil
	b.from++
	if b.from == b.to {
		q.first = b.next
		if q.first == nil {
			q.last = nil
		}
	}
	return task
}
