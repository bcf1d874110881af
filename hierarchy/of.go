package hierarchy

import (
	"context"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/internal/engine"
)

// Of is a wheel of values with one function for all, which needs no closure per timer.
// All methods may be called concurrently, also inside callbacks. NewOf makes an Of; the
// methods of a zero Of panic.
type Of[T any] struct{ core *engine.Core[T] }

// NewOf makes a wheel that calls fire with the value of each timer. The error is
// ErrNilFunc, or ErrArgument as with New.
func NewOf[T any](cfg Config, fire func(T)) (*Of[T], error) {
	c, err := newCore(cfg, fire)
	if err != nil {
		return nil, err
	}
	return &Of[T]{c}, nil
}

// Set makes the wheel's executor call fire with v after d, or at once if d <= 0, as Wheel.AfterFunc does, but never
// inside the call. The error is ErrClosed or ErrFull.
func (w *Of[T]) Set(v T, d time.Duration) (Timer, error) {
	h, err := w.core.Add(v, w.core.Now(), d, 0)
	return Timer{h}, err
}

// Drain takes all pending timers out at once, and then calls fn for each value, in order of deadline. It returns the
// number of these timers. fn is called in the caller's goroutine with no lock held, and may use the wheel, which
// continues to run.
//
// A panic in fn is treated like a panic in a callback. Even if fn panics or exits its goroutine, it is called for all
// timers. Without Config.OnPanic the first panic then continues in the caller, and further ones are logged. After a
// second exit, fn is called in other goroutines, while the caller's goroutine waits.
func (w *Of[T]) Drain(fn func(T)) int {
	if fn == nil {
		fn = func(T) {}
	}
	return w.core.Drain(func(v T, _ int64) { fn(v) })
}

// Len returns the number of pending timers.
func (w *Of[T]) Len() int { return w.core.Len() }

// Stats returns a snapshot of the wheel's counters.
func (w *Of[T]) Stats() Stats { return statsOf(w.core) }

// Circles returns a snapshot of where the timers are, finest circle first.
func (w *Of[T]) Circles() []CircleStats { return circlesOf(w.core) }

// Stop stops the wheel and drops all pending timers, which never fire. It does not wait for running callbacks. Further
// calls do nothing.
func (w *Of[T]) Stop() { w.core.Stop() }

// Shutdown stops the wheel and waits until all callbacks that were dispatched have returned. It returns ctx's error if
// ctx is done first. If a callback called Shutdown, that call would wait for the callback itself: in a callback, call
// Stop, or Shutdown in a new goroutine.
func (w *Of[T]) Shutdown(ctx context.Context) error { return w.core.Shutdown(ctx) }
