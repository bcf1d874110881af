package hierarchy

import (
	"context"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/internal/engine"
)

// Wheel schedules functions. All methods may be called concurrently, also inside
// callbacks. Setting, stopping and resetting a timer each cost one lock and no allocation,
// however many timers are pending. Setting and resetting cost a reading of the clock, too.
//
// A Wheel needs no goroutine of its own while it sleeps. Stop a Wheel that is no longer
// needed: until then its clock may keep it alive. New makes a Wheel; the methods of a zero
// Wheel panic.
type Wheel struct {
	core     *engine.Core[func()]
	sleepers sync.Pool // of *sleeper
	watch    wallWatch
}

// New makes a wheel. The zero Config is ready to use. The error is ErrArgument if a field
// is negative, or if Precision is greater than an Interval that is set.
func New(cfg Config) (*Wheel, error) {
	c, err := newCore(cfg, func(f func()) { f() })
	if err != nil {
		return nil, err
	}
	c.Touch = func(f func()) { codeOf(f) } // codeOf reads the memory that f points to
	return &Wheel{core: c, watch: wallWatch{clock: c.Clock()}}, nil
}

// AfterFunc makes the wheel's executor call f after d, or at once if d <= 0, but never inside the call. The error is
// ErrNilFunc, ErrClosed or ErrFull.
//
// With d <= 0 and the executors Go and Pool, f is dispatched before AfterFunc returns. The timer takes no place under
// MaxPending, and the Timer is inactive. Other executors get f in the wheel's next round, which begins at once, or on a
// mock in the next Add.
func (w *Wheel) AfterFunc(d time.Duration, f func()) (Timer, error) {
	if f == nil {
		return Timer{}, ErrNilFunc
	}
	h, err := w.core.Add(f, w.core.Now(), d, 0)
	return Timer{h}, err
}

// At is AfterFunc with the delay from the clock's current wall time to t. The delay is computed once: later settings of
// the wall clock do not affect the timer.
func (w *Wheel) At(t time.Time, f func()) (Timer, error) {
	return w.AfterFunc(w.until(t), f)
}

// Now returns the wall time of the wheel's clock, even after the wheel was stopped.
func (w *Wheel) Now() time.Time { return w.core.Clock().Now() }

// until returns the wall time from now to t.
func (w *Wheel) until(t time.Time) time.Duration { return t.Sub(w.Now()) }

// Len returns the number of pending timers. A Repeater or Ticker counts as one until it is stopped, even while its
// function runs.
func (w *Wheel) Len() int { return w.core.Len() }

// Stats returns a snapshot of the wheel's counters.
func (w *Wheel) Stats() Stats { return statsOf(w.core) }

// Circles returns a snapshot of where the timers are, finest circle first.
func (w *Wheel) Circles() []CircleStats { return circlesOf(w.core) }

// Stop stops the wheel and drops all pending timers, which never fire. It does not wait for running callbacks. Contexts
// made by the wheel are cancelled with the cause ErrClosed, and Sleep returns ErrClosed. Further calls do nothing, and
// do not wait until the first one has cancelled the contexts. Shutdown waits until the contexts are cancelled.
func (w *Wheel) Stop() {
	w.core.Stop()
	w.watch.close()
}

// Shutdown stops the wheel and waits until all callbacks that were dispatched have returned. It returns ctx's error if
// ctx is done first. If a callback called Shutdown, that call would wait for the callback itself: in a callback, call
// Stop, or Shutdown in a new goroutine.
func (w *Wheel) Shutdown(ctx context.Context) error {
	engine.RequireContext(ctx, "Shutdown")
	w.Stop()
	return w.core.Shutdown(ctx)
}

// AfterInline is AfterFunc with Inline for this one timer, whatever the executor of the wheel: f is called in the
// goroutine that woke the wheel, with the wall time at which the timer was due. Use it for an f that never blocks, such
// as one that sends to a channel with room: all other timers of the wheel wait for it. It never takes a goroutine of
// its own. If the timer was reset, due is the time to which it was last reset.
//
// If d <= 0, f is called before AfterInline returns, or on a mock in the next Add. So the caller must not hold a lock
// that f takes. Shutdown does not wait for that call. After Timer.Reset with d <= 0, the wheel wakes at once and calls
// f. The error is ErrNilFunc, ErrClosed or ErrFull.
func (w *Wheel) AfterInline(d time.Duration, f func(due time.Time)) (Timer, error) {
	engine.RequireMade(w.core != nil, "wheel")
	if f == nil {
		return Timer{}, ErrNilFunc
	}
	now := w.core.Now()
	if w.core.Passed(now, d) {
		return Timer{}, w.core.CallNow(func() { f(w.core.WallAt(engine.DeadlineAfter(now, d))) })
	}
	h, err := w.core.Add(func() { f(w.core.WallAt(w.core.Firing())) }, now, d, engine.RunInWake)
	return Timer{h}, err
}
