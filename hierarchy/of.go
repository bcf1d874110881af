package hierarchy

import (
	"context"
	"time"
)

// Of is a wheel of values with one function for all: no closure per timer. All
// methods may be called concurrently, also inside callbacks. An Of is made by NewOf: a
// zero one panics.
type Of[T any] struct{ core *core[T] }

// NewOf makes a wheel that calls fire with the value of each timer. The error is
// ErrNilFunc, or ErrArgument as with New.
func NewOf[T any](cfg Config, fire func(T)) (*Of[T], error) {
	c, err := newCore(cfg, fire)
	if err != nil {
		return nil, err
	}
	return &Of[T]{c}, nil
}

// Set has fire called with v after d; if d <= 0, as soon as can be, but never
// inside the call. The error is ErrClosed or ErrFull.
func (w *Of[T]) Set(v T, d time.Duration) (Timer, error) {
	return w.core.add(v, w.core.now(), d, 0)
}

// Drain takes all pending timers out at once, then calls fn for each value, in
// order of deadline, in the caller's goroutine and with no lock held: fn may
// use the wheel, which goes on. It returns how many there were. A panic in fn
// is treated as a callback's; the rest is still handed over.
func (w *Of[T]) Drain(fn func(T)) int {
	if fn == nil {
		fn = func(T) {}
	}
	return w.core.drain(fn)
}

// Len is the number of pending timers.
func (w *Of[T]) Len() int { return w.core.len() }

// Stats is a snapshot of the wheel's counters.
func (w *Of[T]) Stats() Stats { return w.core.stats() }

// Circles is a snapshot of where the timers are, finest circle first.
func (w *Of[T]) Circles() []CircleStats { return w.core.circleStats() }

// Stop drops all pending timers: they never fire. It does not wait for
// callbacks that run. Further calls do nothing.
func (w *Of[T]) Stop() { w.core.stop() }

// Shutdown stops the wheel, then waits until the callbacks that were handed
// over have returned, or returns ctx's error. Inside a callback it waits for
// that callback too: use Stop, or go Shutdown.
func (w *Of[T]) Shutdown(ctx context.Context) error { return w.core.shutdown(ctx) }
