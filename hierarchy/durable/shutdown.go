package durable

import (
	"context"
	"sync"
)

// Shutdown hands no further timer over, and waits for the handlers that run. When ctx is done, it
// ends their contexts and waits no longer, and returns ctx's error. Their timers come again after
// the next Open. Nothing that was acknowledged is lost. Inside a handler, Shutdown waits for that
// handler too.
func (w *Keyed[K, V]) Shutdown(ctx context.Context) error {
	errs := make([]error, len(w.parts))
	var wg sync.WaitGroup
	for i, p := range w.parts {
		if p != nil && p.err == nil {
			wg.Go(func() { errs[i] = p.Shutdown(ctx) })
		}
	}
	wg.Wait()
	w.closing.Do(func() {
		w.name.release()
		w.server.Close()
	})
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// Close is Shutdown that does not wait for handlers.
func (w *Keyed[K, V]) Close() error {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	_ = w.Shutdown(ended)
	return nil
}
