package hierarchy

import (
	"context"
	"sync"
	"sync/atomic"
)

// work counts what is under way: rounds of the wheel, and the tasks they handed
// to the executor. It lets others wait until all is done.
type work struct {
	active  atomic.Int64 // rounds, and tasks that have not returned
	rounds  atomic.Int64 // of these, the rounds
	running atomic.Int64 // of these, the tasks that were started
	waiting atomic.Int32 // how many wait
	handed  atomic.Bool  // a task went to the executor since the last settle

	mu   sync.Mutex
	idle chan struct{} // guarded by mu; nil, or closed when active next becomes 0
}

// enter and leave enclose a round: what it has taken out of the wheel and not
// handed over yet is not lost sight of.
func (w *work) enter() { w.active.Add(1); w.rounds.Add(1) }
func (w *work) leave() { w.rounds.Add(-1); w.done() }

// hand, start and finish are the life of a task; drop ends one that is never
// started. begin is for tasks that start without being handed.
func (w *work) hand()   { w.active.Add(1); w.handed.Store(true) }
func (w *work) begin()  { w.active.Add(1); w.running.Add(1) }
func (w *work) start()  { w.running.Add(1) }
func (w *work) finish() { w.running.Add(-1); w.done() }
func (w *work) drop()   { w.done() }

// done takes one off active, and wakes those who wait for the last.
func (w *work) done() {
	if w.active.Add(-1) > 0 || w.waiting.Load() == 0 {
		return
	}
	w.mu.Lock()
	if w.idle != nil {
		close(w.idle)
		w.idle = nil
	}
	w.mu.Unlock()
}

// wait returns when nothing is under way, or ctx's error.
func (w *work) wait(ctx context.Context) error {
	w.waiting.Add(1)
	defer w.waiting.Add(-1)
	for {
		w.mu.Lock()
		if w.idle == nil {
			w.idle = make(chan struct{})
		}
		idle := w.idle
		w.mu.Unlock()
		if w.active.Load() == 0 {
			return nil
		}
		select {
		case <-idle:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// settle waits until no task is active, and tells whether any went to the
// executor since it was last called: also one that has returned long ago may
// have set timers.
func (w *work) settle() bool {
	if !w.handed.Load() {
		return false
	}
	w.handed.Store(false)
	_ = w.wait(context.Background())
	return true
}

// count is how many tasks wait for the executor and how many run.
func (w *work) count() (queued, running int) {
	r := w.running.Load()
	return int(max(0, w.active.Load()-w.rounds.Load()-r)), int(r)
}
