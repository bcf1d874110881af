package service

import (
	"context"
	"sync"
)

// work counts functions that go on after the call that has begun them, so that Drain and Shutdown can wait for them.
type work struct {
	mu      sync.Mutex
	running int
	idle    chan struct{} // closed when running is 0 again
}

// begin calls f in a goroutine.
func (w *work) begin(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.running++; w.running == 1 {
		w.idle = make(chan struct{})
	}
	go func() {
		defer w.end()
		f()
	}()
}

func (w *work) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.running--; w.running == 0 {
		close(w.idle)
	}
}

// wait waits until no function is running, or ctx is done.
func (w *work) wait(ctx context.Context) {
	w.mu.Lock()
	idle := w.idle
	w.mu.Unlock()
	if idle == nil {
		return
	}
	select {
	case <-idle:
	case <-ctx.Done():
	}
}
