package hierarchy

import (
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/internal/engine"
)

// rest ends a run, and sets the timer for the next one. next is the time that the Schedule returned, if there is a
// Schedule.
func (r *Repeater) rest(next time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running = false
	if r.ended {
		return
	}
	now := r.wheel.core.Now()
	var due, skipped int64
	switch {
	case r.plan == nil:
		due, skipped = r.afterRun(now)
		r.wheel.core.Skip(skipped)
	case next.IsZero():
		r.end()
		return
	default:
		r.wall = next
		due = engine.DeadlineAfter(now, r.wheel.until(next))
	}
	if r.early && now < due { // RunNow was called during the run that has just ended
		r.due = due
		r.timer.Set(now, now)
		return
	}
	r.set(now, due)
}

// afterRun returns the deadline of the next run of an Every, if the last run returns now, and the number of runs that
// are skipped before the next one. mu must be held.
//
// As the wheel gathers timers, even a short run may begin so late that the next run is due when it returns. That next
// run is not skipped.
func (r *Repeater) afterRun(now int64) (due, skipped int64) {
	next := engine.DeadlineAfter(r.due, time.Duration(r.period))
	precision := r.wheel.core.Precision()
	unread := r.unread
	r.unread = false
	if unread && r.period < precision {
		skipped = (engine.DeadlineAfter(now, time.Duration(precision))-r.due)/r.period - 1
		return engine.DeadlineAfter(r.due+skipped*r.period, time.Duration(r.period)), skipped
	}
	short := now-r.began < r.period
	if next > now || short && r.period >= precision && now-next <= precision {
		return next, 0
	}
	skipped = (now - r.due) / r.period
	return engine.DeadlineAfter(r.due+skipped*r.period, time.Duration(r.period)), skipped
}

// RunNow makes the next run due now. The runs after it are as if that run had been on time: an Every keeps its
// multiples of the period, and a Schedule is called with the time of that run. Runs never overlap: while one is in
// progress, the next begins when that one returns, unless the Schedule ends then. Several calls before that run begins
// count as one. RunNow returns false if the Repeater has ended, or its wheel was stopped.
func (r *Repeater) RunNow() bool {
	engine.RequireMade(r.wheel != nil, "Repeater")
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.wheel.core.Now()
	if r.ended || r.wheel.core.Closed() {
		return false
	}
	r.early = true
	return r.running || r.timer.Rearm(now, now) // else rest does it
}

// Next returns the wall time of the next run, as of now. ok is false if the Repeater has ended, and during a run of a
// Schedule, which determines the next time only after the run. The next run may be late, and is skipped if it is late
// by more than a period.
func (r *Repeater) Next() (time.Time, bool) {
	engine.RequireMade(r.wheel != nil, "Repeater")
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended || r.wheel.core.Closed() {
		return time.Time{}, false
	}
	wall, now := r.wheel.core.Reading()
	switch {
	case r.early:
		return wall.Round(0), true
	case r.plan == nil:
		return wall.Add(time.Duration(r.nextDue(now) - now)).Round(0), true
	case r.running:
		return time.Time{}, false
	}
	return r.wall, true
}

// deadline returns when the last run was due, or between runs, when the next one is due.
func (r *Repeater) deadline() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.due
}

// nextDue returns when the next run of an Every is due. mu must be held.
func (r *Repeater) nextDue(now int64) int64 {
	if !r.running {
		return r.due
	}
	due, _ := r.afterRun(now)
	return due
}
