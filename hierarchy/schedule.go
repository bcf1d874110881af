package hierarchy

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/internal/engine"
)

// Schedule determines when a Repeater runs next. Next returns the first time that is later than its argument, or a zero
// time to end the Repeater. Package hierarchy/schedule has Schedules with the syntax of cron. A Schedule may have a rule
// for missed runs, see Missed.
type Schedule interface{ Next(time.Time) time.Time }

// Schedule makes the wheel's executor call f at the wall times that s returns. It calls s.Next at once, and again after
// each run, with the run's time or the present time, whichever is later. Runs never overlap. f never runs before its
// wall time, nor twice for the same wall time, even if the wall clock is set back meanwhile. A time that has passed is
// due at once. If the wall clock is set forward, or the machine was suspended, that is noticed within 10 seconds.
//
// If s has a rule for missed runs, that rule holds: see Missed. By MissedOnce, s.Next is called with the time at which
// the last run began, and by MissedAll with the last run's time, so that runs missed meanwhile are due at once.
//
// The Repeater continues until it is stopped, s returns a zero time, or s does not advance. s does not advance if it
// returns its argument, or a time that has passed and is not later than the time before. Nor does s advance if it
// returns more than a thousand times in a row that have passed. If s ends at once, the Repeater is stopped from the
// beginning. The error is ErrNilFunc, ErrArgument if s is nil, ErrClosed or ErrFull.
func (w *Wheel) Schedule(s Schedule, f func()) (*Repeater, error) {
	if f == nil {
		return nil, ErrNilFunc
	}
	if s == nil {
		return nil, fmt.Errorf("%w: schedule is nil", ErrArgument)
	}
	if w.core.Closed() {
		return nil, ErrClosed
	}
	r := &Repeater{wheel: w, run: f, plan: s, rule: ruleOf(s)}
	if r.wall = r.nextOf(s); r.wall.IsZero() {
		r.ended = true
		return r, nil
	}
	w.watch.add(r)
	now := w.core.Now()
	if err := r.start(now, engine.DeadlineAfter(now, w.until(r.wall)), 0); err != nil {
		w.watch.remove(r)
		return nil, err
	}
	return r, nil
}

// nextOf returns the next time of s, or zero when s has ended. The time has no monotonic reading, so that it remains a
// wall time when the wall clock is set. nextOf returns no time twice, even if the wall clock is set back to before that
// time.
//
// A schedule that does not advance counts as ended. Otherwise the Repeater would run for ever while time stands still.
func (r *Repeater) nextOf(s Schedule) time.Time {
	after := r.wall
	if now := r.wheel.Now().Round(0); r.wall.IsZero() || now.After(after) && !r.rule.makesUp() {
		after = now // else the rule makes up for missed runs, the wall clock was set back, or RunNow was called
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

// mostPassed is the limit of how often in a row a schedule may return a time that has passed.
const mostPassed = 1000

// Aligned returns a Schedule of all wall times that are offset after a multiple of period since the Unix epoch: with a
// minute and five seconds, five seconds past each full minute. Aligned panics if period is not positive.
//
// A day of the calendar is not always 24 hours long. For times of day in a time zone, use a Schedule that handles
// calendars, such as those of hierarchy/schedule.
func Aligned(period, offset time.Duration) Schedule {
	if period <= 0 {
		panic(fmt.Sprintf("hierarchy: Aligned: period %v must be positive", period))
	}
	return aligned{int64(period), floorMod(int64(offset), int64(period))}
}

// aligned is the result of Aligned. Invariant: offset is at least 0 and less than period.
type aligned struct{ period, offset int64 }

func (a aligned) Next(t time.Time) time.Time {
	since := floorMod(a.intoPeriod(t)-a.offset, a.period) // nanoseconds since the last time of the schedule
	return t.Round(0).Add(time.Duration(a.period - since))
}

// intoPeriod returns the nanoseconds from the last multiple of the period until t. The nanoseconds since the epoch need
// more than 64 bits if t is before 1678 or after 2262.
func (a aligned) intoPeriod(t time.Time) int64 {
	seconds := floorMod(t.Unix(), a.period)
	high, low := bits.Mul64(uint64(seconds), uint64(time.Second))
	whole := int64(bits.Rem64(high, low, uint64(a.period)))
	return floorMod(whole-a.period+int64(t.Nanosecond()), a.period)
}

// floorMod returns n modulo m, which is at least 0 and less than m.
func floorMod(n, m int64) int64 {
	if n %= m; n < 0 {
		n += m
	}
	return n
}

// Jittered returns a Schedule with the times of s, each later by a random delay below most, so that many programs with
// the same schedule do not all run at once. Times of s that pass during such a delay are skipped. If most is zero or
// less, it returns s. The rule of s for missed runs holds. Jittered panics if s is nil. For a delay that is the same each
// time, see Spread of hierarchy/schedule.
func Jittered(s Schedule, most time.Duration) Schedule {
	if s == nil {
		panic("hierarchy: Jittered: schedule is nil")
	}
	if most <= 0 {
		return s
	}
	j := jittered{s, most}
	if s, ok := s.(ruled); ok {
		return struct {
			jittered
			ruled
		}{j, s}
	}
	return j
}

type jittered struct {
	schedule Schedule
	most     time.Duration
}

func (j jittered) Next(t time.Time) time.Time {
	next := j.schedule.Next(t)
	if next.IsZero() || next.Equal(t) { // the schedule has ended, or does not advance
		return next
	}
	return next.Add(rand.N(j.most))
}
