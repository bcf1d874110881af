package hierarchy

import (
	"fmt"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/level"
)

// Schedule says when a Repeater runs next. A *cron.Schedule of robfig/cron is
// one. A zero time ends the Repeater.
type Schedule interface{ Next(time.Time) time.Time }

// Repeater runs a function again and again until it is stopped. Its methods may
// be called concurrently, also inside the function.
type Repeater struct {
	wheel *Wheel
	run   func()
	timer Timer // immutable; held while the function runs

	mu      sync.Mutex
	ended   bool      // guarded by mu, as all below
	running bool      // a run was begun and has not returned
	due     int64     // when the next one may begin
	origin  int64     // runs are at origin + k*period,
	period  int64     // if there is a period,
	plan    Schedule  // or else when this says:
	wall    time.Time // not before this wall time
}

// Every runs f every period, first after one period, by the wheel's executor.
// Runs never overlap and don't drift: a run that takes longer than the period
// makes others be skipped, and the next is at the next whole multiple. The
// error is ErrNilFunc, ErrArgument if period <= 0, ErrClosed or ErrFull.
func (w *Wheel) Every(period time.Duration, f func()) (*Repeater, error) {
	return w.every(period, f, 0)
}

func (w *Wheel) every(period time.Duration, f func(), fl level.Flags) (*Repeater, error) {
	if f == nil {
		return nil, ErrNilFunc
	}
	if period <= 0 {
		return nil, fmt.Errorf("%w: period %v", ErrArgument, period)
	}
	now := w.core.now()
	r := &Repeater{wheel: w, run: f, origin: now, period: int64(period)}
	return r.start(now, period, fl)
}

// Schedule runs f at the wall times that s gives, by the wheel's executor: s is
// asked for the next one now and after each run, which never overlap. f never
// runs before its wall time, also if the wall clock is set back meanwhile. The
// error is ErrNilFunc, ErrArgument if s is nil, ErrClosed or ErrFull. If s ends
// at once, the Repeater is stopped already.
func (w *Wheel) Schedule(s Schedule, f func()) (*Repeater, error) {
	if f == nil {
		return nil, ErrNilFunc
	}
	if s == nil {
		return nil, fmt.Errorf("%w: schedule is nil", ErrArgument)
	}
	if w.core.closed.Load() {
		return nil, ErrClosed
	}
	r := &Repeater{wheel: w, run: f, plan: s, wall: w.ask(s)}
	if r.wall.IsZero() {
		r.ended = true
		return r, nil
	}
	now := w.core.now()
	return r.start(now, w.until(r.wall), 0)
}

// ask is the next time of s, without a monotonic reading: it is a wall time, and
// must stay one when the wall clock is set.
func (w *Wheel) ask(s Schedule) time.Time { return s.Next(w.core.clock.Now()).Round(0) }

func (r *Repeater) start(now int64, d time.Duration, f level.Flags) (*Repeater, error) {
	r.mu.Lock() // the first run may begin before the timer is noted
	defer r.mu.Unlock()
	t, err := r.wheel.core.add(r.fire, now, d, f|flagStays)
	if err != nil {
		return nil, err
	}
	r.timer, r.due = t, deadlineAfter(now, d)
	return r, nil
}

// Stop ends the repetition. It is true if there was one to end: no run begins
// any more. It does not wait for one that has begun.
func (r *Repeater) Stop() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.ended && r.end()
}

// Reset has the function run every period from now on, first after one period.
// It is false, and nothing changed, if the Repeater has ended, its wheel was
// stopped, or period <= 0.
func (r *Repeater) Reset(period time.Duration) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended || period <= 0 {
		return false
	}
	now := r.wheel.core.now()
	if r.running && r.wheel.core.closed.Load() || !r.running && !r.set(now, deadlineAfter(now, period)) {
		return false
	}
	r.origin, r.period, r.plan = now, int64(period), nil
	return true
}

// fire is the timer's callback.
func (r *Repeater) fire() {
	if r.begin() {
		defer r.again()
		r.run()
	}
}

// begin tells whether to run now. Whenever it does not, because the Repeater
// was stopped or reset since it fell due, or its wall time has not come, the
// timer is set or gone.
func (r *Repeater) begin() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.wheel.core.now()
	if r.ended || r.running || now < r.due {
		return false
	}
	if r.plan != nil {
		if d := r.wheel.until(r.wall); d > 0 {
			r.set(now, deadlineAfter(now, d))
			return false
		}
	}
	r.running = true
	return true
}

// again sets the timer for the next run. If the schedule panics, the Repeater
// ends, unless it was given a period meanwhile.
func (r *Repeater) again() {
	var next time.Time
	defer func() { r.rest(next) }()
	if plan := r.planned(); plan != nil {
		next = r.wheel.ask(plan)
	}
}

// planned is the schedule to ask, if there is one still.
func (r *Repeater) planned() Schedule {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return nil
	}
	return r.plan
}

// rest ends a run; next is what the schedule said.
func (r *Repeater) rest(next time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running = false
	if r.ended {
		return
	}
	now := r.wheel.core.now()
	switch {
	case r.plan == nil:
		r.set(now, nextMultiple(r.origin, r.period, now))
	case next.IsZero():
		r.end()
	default:
		r.wall = next
		r.set(now, deadlineAfter(now, r.wheel.until(next)))
	}
}

// set makes the timer due at an elapsed time. At the end of all time there is
// no next time, and the Repeater ends. mu must be held.
func (r *Repeater) set(now, deadline int64) bool {
	if now == never {
		r.end()
		return false
	}
	r.due = deadline
	return r.timer.rearm(now, deadline)
}

// end ends the repetition. mu must be held.
func (r *Repeater) end() bool {
	r.ended = true
	return r.timer.Stop()
}

// nextMultiple is the first origin + k*period that is later than now.
func nextMultiple(origin, period, now int64) int64 {
	return deadlineAfter(now, time.Duration(period-(now-origin)%period))
}
