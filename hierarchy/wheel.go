package hierarchy

import (
	"context"
	"time"
)

// Wheel schedules functions. All methods may be called concurrently, also
// inside callbacks. Setting, stopping and resetting a timer each cost one lock,
// setting and resetting a reading of the clock too, and no allocation,
// whatever the number of pending timers.
//
// A Wheel needs no goroutine of its own while it sleeps. One that is no longer
// needed should be stopped: until then its clock may hold on to it. A Wheel is made
// by New: a zero one panics.
type Wheel struct{ core *core[func()] }

// New makes a wheel. The zero Config is ready to use. The error is ErrArgument if a
// field is negative, or Precision is more than an Interval that is given.
func New(cfg Config) (*Wheel, error) {
	c, err := newCore(cfg, func(f func()) { f() })
	if err != nil {
		return nil, err
	}
	return &Wheel{c}, nil
}

// AfterFunc has f called after d, by the wheel's executor; if d <= 0, as soon
// as can be, but never inside the call. The error is ErrNilFunc, ErrClosed or
// ErrFull.
func (w *Wheel) AfterFunc(d time.Duration, f func()) (Timer, error) {
	if f == nil {
		return Timer{}, ErrNilFunc
	}
	return w.core.add(f, w.core.now(), d, 0)
}

// At is AfterFunc with the delay from the clock's wall time, now, to t. It is
// computed once: when the wall clock is set later, the timer does not follow.
func (w *Wheel) At(t time.Time, f func()) (Timer, error) {
	return w.AfterFunc(w.until(t), f)
}

// until is the wall time from now to t.
func (w *Wheel) until(t time.Time) time.Duration { return t.Sub(w.core.wall()) }

// Len is the number of pending timers. A Repeater or Ticker that is not stopped
// counts as one, also while its function runs.
func (w *Wheel) Len() int { return w.core.len() }

// Stats is a snapshot of the wheel's counters.
func (w *Wheel) Stats() Stats { return w.core.stats() }

// Circles is a snapshot of where the timers are, finest circle first.
func (w *Wheel) Circles() []CircleStats { return w.core.circleStats() }

// Stop drops all pending timers: they never fire. It does not wait for
// callbacks that run. Contexts made by the wheel are cancelled with the cause
// ErrClosed, and Sleep returns it. Further calls do nothing.
func (w *Wheel) Stop() { w.core.stop() }

// Shutdown stops the wheel, then waits until the callbacks that were handed
// over have returned, or returns ctx's error. Inside a callback it waits for
// that callback too: use Stop, or go Shutdown.
func (w *Wheel) Shutdown(ctx context.Context) error { return w.core.shutdown(ctx) }
