package hierarchy

import (
	"context"
	"sync"
	"time"
)

// Wheel schedules functions. All methods may be called concurrently, also inside
// callbacks. Setting, stopping and resetting a timer each cost one lock and no allocation,
// however many timers are pending. Setting and resetting cost a reading of the clock, too.
//
// A Wheel needs no goroutine of its own while it sleeps. Stop a Wheel that is no longer
// needed: until then its clock may keep it alive. New makes a Wheel; the methods of a zero
// Wheel panic.
type Wheel struct {
	core     *core[func()]
	sleepers sync.Pool // of *sleeper
}

// New makes a wheel. The zero Config is ready to use. The error is ErrArgument if a field
// is negative, or if Precision is greater than an Interval that is set.
func New(cfg Config) (*Wheel, error) {
	c, err := newCore(cfg, func(f func()) { f() })
	if err != nil {
		return nil, err
	}
	c.touch = func(f func()) { codeOf(f) } // which lies where f points to
	return &Wheel{core: c}, nil
}

// AfterFunc has the wheel's executor call f after d, or at once if d <= 0, but never inside
// the call. The error is ErrNilFunc, ErrClosed or ErrFull.
//
// With d <= 0 and the executors Go and Pool, f is dispatched before AfterFunc returns. It
// takes no place under MaxPending, and the Timer is inactive. Other executors get f in the
// wheel's next round, which begins at once, and on a mock in the next Add.
func (w *Wheel) AfterFunc(d time.Duration, f func()) (Timer, error) {
	if f == nil {
		return Timer{}, ErrNilFunc
	}
	return w.core.add(f, w.core.now(), d, 0)
}

// At is AfterFunc with the delay from the clock's current wall time to t. The delay is
// computed once: the timer does not follow when the wall clock is set.
func (w *Wheel) At(t time.Time, f func()) (Timer, error) {
	return w.AfterFunc(w.until(t), f)
}

// Now returns the wall time of the wheel's clock, also after the wheel was stopped.
func (w *Wheel) Now() time.Time { return w.core.wall() }

// until is the wall time from now to t.
func (w *Wheel) until(t time.Time) time.Duration { return t.Sub(w.core.wall()) }

// Len returns the number of pending timers. A Repeater or Ticker counts as one until it
// is stopped, also while its function runs.
func (w *Wheel) Len() int { return w.core.len() }

// Stats returns a snapshot of the wheel's counters.
func (w *Wheel) Stats() Stats { return w.core.stats() }

// Circles returns a snapshot of where the timers are, finest circle first.
func (w *Wheel) Circles() []CircleStats { return w.core.circleStats() }

// Stop stops the wheel and drops all pending timers, which never fire. It does not wait
// for callbacks that run. Contexts made by the wheel are cancelled with the cause
// ErrClosed, and Sleep returns ErrClosed. Further calls do nothing, and do not wait until
// the first one has cancelled the contexts. Shutdown does.
func (w *Wheel) Stop() { w.core.stop() }

// Shutdown stops the wheel and waits until all callbacks that were dispatched have
// returned. It returns ctx's error if ctx is done first. Inside a callback it waits for that
// callback, too: use Stop or go Shutdown there.
func (w *Wheel) Shutdown(ctx context.Context) error { return w.core.shutdown(ctx) }
