package hierarchy

import "time"

// AfterInline is AfterFunc with Inline for this one timer, whatever the executor of the
// wheel: f is called in the goroutine that woke the wheel. Use it for an f that never
// blocks, such as one that sends to a channel with room: all other timers of the wheel wait
// for it. It saves the goroutine that Go would start.
//
// If d <= 0, f is called before AfterInline returns, and on a mock in the next Add. So the
// caller must not hold a lock that f takes. Shutdown does not wait for that call. Timer.Reset
// with d <= 0 gives f to the executor of the wheel. The error is ErrNilFunc, ErrClosed or
// ErrFull.
func (w *Wheel) AfterInline(d time.Duration, f func()) (Timer, error) {
	requireMade(w.core != nil, "wheel")
	if f == nil {
		return Timer{}, ErrNilFunc
	}
	if d <= 0 && w.core.mock == nil {
		return Timer{}, w.core.callNow(f)
	}
	return w.core.add(f, w.core.now(), d, runInWake)
}

// Due is the wall time at which the timer was due that calls a function of AfterInline. It is for
// that function, when d has passed. The deadline is the one that the timer was last reset to.
func (w *Wheel) Due() time.Time {
	requireMade(w.core != nil, "wheel")
	return w.core.wallAt(w.core.waking)
}

// wallAt is the wall time of an elapsed time that has come. On a channel this is what package time
// sends: not when it was sent, but when it was due.
func (c *core[T]) wallAt(due int64) time.Time {
	wall, now := c.reading()
	return wall.Add(-time.Duration(max(0, now-due)))
}

// callNow calls a callback that is due when it is set.
func (c *core[T]) callNow(v T) error {
	if err := c.countDue(); err != nil {
		return err
	}
	c.invoke(v)
	return nil
}
