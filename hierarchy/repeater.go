package hierarchy

import (
	"fmt"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/level"
)

// Schedule says when a Repeater runs next: at the first of its times that is later
// than the one it is given. A cron.Schedule of robfig/cron is one. A zero time ends
// the Repeater, and so does a time that is not later.
type Schedule interface{ Next(time.Time) time.Time }

// Repeater runs a function again and again until it is stopped, also when nobody
// refers to it any more. Its methods may be called concurrently, also inside the
// function. A Repeater is made by Every or Schedule; a zero one panics.
type Repeater struct {
	wheel *Wheel
	run   func()
	timer Timer // immutable; held from when a run is handed over until it has returned

	mu      sync.Mutex
	ended   bool      // guarded by mu, as all below
	running bool      // a run was begun and has not returned
	began   int64     // when the last run began
	due     int64     // when the last run was due, or, between runs, the next one is
	period  int64     // of Every, or 0:
	plan    Schedule  // then this says when runs are due,
	wall    time.Time // and this is the wall time of the next one
}

// Every runs f every period, first after one period, by the wheel's executor, until
// it is stopped: a Repeater that nobody refers to goes on. Runs never overlap and
// don't drift: each is due at a whole multiple of the period after the call.
//
// A run that takes longer than the period makes others be skipped, and the next is at
// the next multiple. So does a wake-up or an executor that is late by more than a
// period. With a period below Config.Precision there is one run for each Precision,
// and the others are skipped. Stats.Skipped counts what was skipped.
//
// The error is ErrNilFunc, ErrArgument if period <= 0, ErrClosed or ErrFull.
func (w *Wheel) Every(period time.Duration, f func()) (*Repeater, error) {
	return w.every(period, f, 0)
}

func (w *Wheel) every(period time.Duration, f func(), fl level.Flags) (*Repeater, error) {
	if f == nil {
		return nil, ErrNilFunc
	}
	if period <= 0 {
		return nil, fmt.Errorf("%w: period %v must be positive", ErrArgument, period)
	}
	r := &Repeater{wheel: w, run: f, period: int64(period)}
	return r.start(w.core.now(), period, fl)
}

// Schedule runs f at the wall times that s gives, by the wheel's executor: s is
// asked for the next one now and after each run, which never overlap. f never
// runs before its wall time, also if the wall clock is set back meanwhile. The
// Repeater ends when s returns a zero time, or one that is not later than the time
// it was asked with; else it goes on until it is stopped. The error is ErrNilFunc,
// ErrArgument if s is nil, ErrClosed or ErrFull. If s ends at once, the Repeater is
// stopped already.
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
	r := &Repeater{wheel: w, run: f, plan: s, wall: w.ask(s)}
	if r.wall.IsZero() {
		r.ended = true
		return r, nil
	}
	now := w.core.now()
	return r.start(now, w.until(r.wall), 0)
}

// ask is the next time of s, or zero when s has ended. It has no monotonic reading:
// it is a wall time, and must stay one when the wall clock is set.
//
// A time that is not later than now ends s, or the Repeater would run for ever
// without time passing.
func (w *Wheel) ask(s Schedule) time.Time {
	now := w.core.wall()
	next := s.Next(now).Round(0)
	if !next.After(now.Round(0)) {
		return time.Time{}
	}
	return next
}

func (r *Repeater) start(now int64, d time.Duration, f level.Flags) (*Repeater, error) {
	r.mu.Lock() // the first run may begin before the timer is noted
	defer r.mu.Unlock()
	t, err := r.wheel.core.add(r.fire, now, d, f|keepNode)
	if err != nil {
		return nil, err
	}
	r.timer, r.due = t, deadlineAfter(now, d)
	return r, nil
}

// Stop ends the repetition. It is true if there was one to end: no run begins
// any more. It does not wait for one that has begun.
func (r *Repeater) Stop() bool {
	requireMade(r.wheel != nil, "Repeater")
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.ended && r.end()
}

// Reset has the function run every period from now on, first after one period.
// It is false, and nothing changed, if the Repeater has ended, its wheel was
// stopped, or period <= 0.
func (r *Repeater) Reset(period time.Duration) bool {
	requireMade(r.wheel != nil, "Repeater")
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended || period <= 0 {
		return false
	}
	now := r.wheel.core.now()
	if r.running && r.wheel.core.closed.Load() || !r.running && !r.put(now, deadlineAfter(now, period), false) {
		return false
	}
	if r.running {
		r.began, r.due = now, now
	}
	r.period, r.plan = int64(period), nil
	return true
}

// fire is the timer's callback.
func (r *Repeater) fire() {
	if r.begin() {
		defer r.again()
		r.run()
	}
}

// begin tells whether to run now. It is too early when the Repeater was reset since it
// fell due, or its wall time has not come: then the timer is set again.
func (r *Repeater) begin() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended || r.running {
		return false
	}
	now := r.wheel.core.now()
	due := r.due
	if r.plan != nil {
		due = max(due, deadlineAfter(now, r.wheel.until(r.wall)))
	}
	if now < due {
		r.set(now, due)
		return false
	}
	r.running, r.began = true, now
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
		r.set(now, r.afterRun(now))
	case next.IsZero():
		r.end()
	default:
		r.wall = next
		r.set(now, deadlineAfter(now, r.wheel.until(next)))
	}
}

// afterRun is when the next run is due, after one that has just returned. mu must be
// held.
//
// A short run may return when the next one is due already, as the wheel gathers what
// is due within one Precision. That next one is not skipped.
func (r *Repeater) afterRun(now int64) int64 {
	next := deadlineAfter(r.due, time.Duration(r.period))
	gap := r.wheel.core.aim.gap
	short := now-r.began < r.period
	if next > now || short && r.period >= gap && now-next <= gap {
		return next
	}
	skipped := (now - r.due) / r.period
	r.wheel.core.skipped.Add(uint64(skipped))
	return deadlineAfter(r.due+skipped*r.period, time.Duration(r.period))
}

// set makes the timer due at an elapsed time. mu must be held.
func (r *Repeater) set(now, deadline int64) bool { return r.put(now, deadline, true) }

// put is set, or, if held is false, leaves the timer alone while it is held: its task
// is with the executor and sets it when it begins. Otherwise each Reset of a Repeater
// that waits for a Pool could leave a task there. mu must be held.
//
// At the end of all time there is no next time, and the Repeater ends.
func (r *Repeater) put(now, deadline int64, held bool) bool {
	if now == endOfTime {
		r.end()
		return false
	}
	r.due = deadline
	return r.timer.rearm(now, deadline, held)
}

// end ends the repetition. mu must be held.
func (r *Repeater) end() bool {
	r.ended = true
	return r.timer.Stop()
}
