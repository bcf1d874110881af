package hierarchy

import (
	"fmt"
	"time"
)

// Schedule tells a Repeater when to run next. Next returns the first time that is later
// than its argument, or a zero time to end the Repeater. A cron.Schedule of robfig/cron is
// a Schedule.
type Schedule interface{ Next(time.Time) time.Time }

// Schedule has the wheel's executor call f at the wall times that s gives. It asks s for
// the next time now and after each run: the next one after that run's time, or after now if
// that is later. Runs never overlap. f never runs before its wall time, nor twice for one, also
// if the wall clock is set back meanwhile. A time that has passed is due at once.
//
// The Repeater goes on until it is stopped, or s returns a zero time or does not advance:
// it returns its argument, a time that has passed and is not later than the one before, or
// a thousand times in a row that have passed. If s ends at once, the Repeater is stopped
// from the beginning. The error is ErrNilFunc, ErrArgument if s is nil, ErrClosed or ErrFull.
func (w *Wheel) Schedule(s Schedule, f func()) (*Repeater, error) {
	if f == nil {
		return nil, ErrNilFunc
	}
	if s == nil {
		return nil, fmt.Errorf("%w: schedule is nil", ErrArgument)
	}
	if w.core.over() {
		return nil, ErrClosed
	}
	r := &Repeater{wheel: w, run: f, plan: s}
	if r.wall = r.ask(s); r.wall.IsZero() {
		r.ended = true
		return r, nil
	}
	now := w.core.now()
	return r.start(now, w.until(r.wall), 0)
}

// ask is the next time of s, or zero when s has ended. It has no monotonic reading, so
// that it stays a wall time when the wall clock is set. No time comes twice, also if the wall
// clock is set back to before it.
//
// A schedule that does not advance is taken for ended. Otherwise the Repeater would run
// for ever while time stands still.
func (r *Repeater) ask(s Schedule) time.Time {
	after := r.wheel.core.wall().Round(0)
	if r.wall.After(after) { // the wall clock was set back, or RunNow was called
		after = r.wall
	}
	next := s.Next(after).Round(0)
	if next.After(after) {
		r.passed = 0
		return next
	}
	r.passed++
	if next.Equal(after) || !next.After(r.wall) || r.passed > mostPassed {
		return time.Time{}
	}
	return next
}

// mostPassed is how many times in a row that have passed a schedule may return.
const mostPassed = 1000
