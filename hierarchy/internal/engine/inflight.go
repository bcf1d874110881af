package engine

import (
	"context"
	"sync"
	"sync/atomic"
)

// inFlight counts the rounds of a wheel that are under way, and the tasks that they gave
// to the executor. It lets others wait until all have ended.
type inFlight struct {
	all     atomic.Int64 // rounds, and tasks that have not ended
	rounds  atomic.Int64 // of these, the rounds
	running atomic.Int64 // of these, the tasks that have started
	waiting atomic.Int32 // how many wait
	handed  atomic.Bool  // a task went to the executor since the last awaitTasks

	mu   sync.Mutex
	idle chan struct{} // guarded by mu; nil, or closed when all next becomes 0
}

// addRound and removeRound enclose a round: a timer that has left the wheel and is not
// with the executor yet is part of it.
func (f *inFlight) addRound()    { f.all.Add(1); f.rounds.Add(1) }
func (f *inFlight) removeRound() { f.rounds.Add(-1); f.end(1) }

// queue notes that n tasks go to the executor, and start that it has called one of them.
func (f *inFlight) queue(n int64) { f.all.Add(n); f.handed.Store(true) }
func (f *inFlight) start()        { f.running.Add(1) }

// startInline notes that a task starts that was not queued.
func (f *inFlight) startInline() { f.all.Add(1); f.running.Add(1) }

// finish ends a task that has started, and drop one that never will.
func (f *inFlight) finish() { f.running.Add(-1); f.end(1) }
func (f *inFlight) drop()   { f.end(1) }

// end takes n off all, and wakes those who wait for the last.
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

// none reports whether nothing is under way.
func (f *inFlight) none() bool { return f.all.Load() == 0 }

// wait returns when nothing is under way, or ctx's error.
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

// awaitTasks waits until nothing is under way, and reports whether any task went to the
// executor since it was last called. Tasks that have already ended count too, because they
// may have set timers.
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
