package engine

import (
	"context"
	"sync"
	"sync/atomic"
)

// inFlight counts the rounds of a wheel in progress, and the tasks that they gave to the executor. wait waits until all
// of them have ended.
type inFlight struct {
	all     atomic.Int64 // rounds in progress, and tasks that have not ended
	rounds  atomic.Int64 // rounds in progress
	running atomic.Int64 // tasks that have started and not ended
	waiting atomic.Int32 // number of goroutines in wait
	handed  atomic.Bool  // a task went to the executor since the last awaitTasks

	mu   sync.Mutex
	idle chan struct{} // guarded by mu; nil, or closed when all becomes 0
}

// addRound and removeRound enclose a round. A timer that has left the wheel and is not with the executor yet is part of
// the round.
func (f *inFlight) addRound()    { f.all.Add(1); f.rounds.Add(1) }
func (f *inFlight) removeRound() { f.rounds.Add(-1); f.end(1) }

// queue records that n tasks are given to the executor. start records that the executor has called one of them.
func (f *inFlight) queue(n int64) { f.all.Add(n); f.handed.Store(true) }
func (f *inFlight) start()        { f.running.Add(1) }

// startInline records that a task starts that was not queued.
func (f *inFlight) startInline() { f.all.Add(1); f.running.Add(1) }

// finish ends a task that has started. drop ends a task that will never start.
func (f *inFlight) finish() { f.running.Add(-1); f.end(1) }
func (f *inFlight) drop()   { f.end(1) }

// end subtracts n from f.all. If f.all becomes 0, end wakes the goroutines in wait.
func (f *inFlight) end(n int64) {
	if f.all.Add(-n) > 0 || f.waiting.Load() == 0 {
		return
	}
	f.mu.Lock()
	if f.idle != nil {
		close(f.idle)
		f.idle = nil
	}
	f.mu.Unlock()
}

// none reports whether nothing is in flight.
func (f *inFlight) none() bool { return f.all.Load() == 0 }

// wait waits until nothing is in flight. It returns ctx's error if ctx is done first.
func (f *inFlight) wait(ctx context.Context) error {
	f.waiting.Add(1)
	defer f.waiting.Add(-1)
	for {
		f.mu.Lock()
		if f.idle == nil {
			f.idle = make(chan struct{})
		}
		idle := f.idle
		f.mu.Unlock()
		if f.none() {
			return nil
		}
		select {
		case <-idle:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// awaitTasks waits until nothing is in flight, and reports whether any task was given to the executor since the last
// call. Tasks that have already ended count, too, because they may have set timers.
func (f *inFlight) awaitTasks() bool {
	if !f.handed.Load() {
		return false
	}
	f.handed.Store(false)
	_ = f.wait(context.Background())
	return true
}

// count returns how many tasks wait for the executor and how many run.
func (f *inFlight) count() (queued, running int) {
	r := f.running.Load()
	return int(max(0, f.all.Load()-f.rounds.Load()-r)), int(r)
}

// Settled reports whether no round and no task is in flight.
func (c *Core[T]) Settled() bool { return c.inFlight.none() }
