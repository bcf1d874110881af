package hierarchy

import "time"

// rest ends a run; next is what the schedule said.
func (r *Repeater) rest(next time.Time) {
	if r.setNext(next) {
		r.wheel.core.submit(r.fire)
	}
}

// setNext sets the timer for the next run. It reports true if that run is due already, and
// the executor must get it as soon as mu is unlocked.
func (r *Repeater) setNext(next time.Time) (fires bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running = false
	if r.ended {
		return false
	}
	now := r.wheel.core.now()
	var due, skipped int64
	switch {
	case r.plan == nil:
		due, skipped = r.afterRun(now)
		r.wheel.core.skipped.Add(uint64(skipped))
	case next.IsZero():
		r.end()
		return false
	default:
		r.wall = next
		due = deadlineAfter(now, r.wheel.until(next))
	}
	if r.early && now < due { // the run after this one
		r.due = due
		if r.timer.fireAgain(0) {
			return true
		}
		r.timer.rearm(now, now, true)
		return false
	}
	if due <= now && now < endOfTime && r.timer.fireAgain(now-due) {
		r.due = due
		return true
	}
	r.set(now, due)
	return false
}

// afterRun is when the next run of an Every is due, if the last one returns now, and how many
// are skipped before it. mu must be held.
//
// As the wheel gathers timers, a run may begin so late that the next one is due when it
// returns, although it was short. That next one is not skipped.
func (r *Repeater) afterRun(now int64) (due, skipped int64) {
	next := deadlineAfter(r.due, time.Duration(r.period))
	precision := r.wheel.core.aim.precision
	unread := r.unread
	r.unread = false
	if unread && r.period < precision {
		skipped = (deadlineAfter(now, time.Duration(precision))-r.due)/r.period - 1
		return deadlineAfter(r.due+skipped*r.period, time.Duration(r.period)), skipped
	}
	short := now-r.began < r.period
	if next > now || short && r.period >= precision && now-next <= precision {
		return next, 0
	}
	skipped = (now - r.due) / r.period
	return deadlineAfter(r.due+skipped*r.period, time.Duration(r.period)), skipped
}
