package hierarchy

import (
	"context"
	"sync"
	"sync/atomic"
)

// work counts the tasks that were handed to the executor, and lets others wait
// until all have returned.
type work struct {
	active  atomic.Int64 // handed over, not yet returned
	running atomic.Int64 // of these, those that were started
	waiting atomic.Int32 // how many wait
	handed  atomic.Bool  // a task went to the executor since the last settle

	mu   sync.Mutex
	idle chan struct{} // guarded by mu; nil, or closed when active next becomes 0
}

func (w *work) queue() { w.active.Add(1) }
func (w *work) start() { w.running.Add(1) }

func (w *work) finish() {
	w.running.Add(-1)
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

// wait returns when no task is active, or ctx's error.
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
	return int(max(0, w.active.Load()-r)), int(r)
}
