package hierarchy

import (
	"fmt"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/internal/engine"
	"github.com/epicycle-go/epicycle/level/arena"
)

// Repeater runs a function again and again until it is stopped, even if nothing refers to the Repeater any more. Its
// methods may be called concurrently, also inside the function. Every and Schedule make a Repeater; the methods of a
// zero Repeater panic.
type Repeater struct {
	wheel *Wheel
	run   func()
	task  func() // the function that the executor calls
	// timer is kept, and not due, from the dispatch of a run until the run ends, or turns out to begin too early.
	timer engine.Owned[func()]

	mu      sync.Mutex
	ended   bool      // guarded by mu, as all below
	running bool      // a run has begun and not returned
	early   bool      // RunNow was called, and the run has not begun
	unread  bool      // a Ticker's last tick was not received
	began   int64     // time at which the last run began
	due     int64     // deadline of the last run or, between runs, of the next run
	period  int64     // the period of Every, or 0 if there is a plan
	plan    Schedule  // determines when runs are due; nil if there is a period
	wall    time.Time // wall time of the next run, if there is a plan
	passed  int       // how often in a row plan has returned a time that had passed; used only by nextOf
	rule    Missed    // of plan; immutable
	place   int       // guarded by the wheel's watch, see wallWatch
}

// Every makes the wheel's executor call f every period, first after one period, until the Repeater is stopped, even if
// nothing refers to the Repeater any more. Runs never overlap and do not drift: each is due at a whole multiple of the
// period after the call.
//
// If a run takes longer than the period, the runs that fall due before it returns are skipped. The next run is due at
// the next multiple of the period. Runs are also skipped if a wake-up or the executor is late by more than a period and
// one Precision. With a period below Config.Precision, several Repeaters have one run per Precision each, and the
// other runs are skipped. Stats.Skipped counts the skipped runs.
//
// The error is ErrNilFunc, ErrArgument if period <= 0, ErrClosed or ErrFull.
func (w *Wheel) Every(period time.Duration, f func()) (*Repeater, error) {
	return w.every(period, f, 0)
}

func (w *Wheel) every(period time.Duration, f func(), fl arena.Flags) (*Repeater, error) {
	if f == nil {
		return nil, ErrNilFunc
	}
	if period <= 0 {
		return nil, fmt.Errorf("%w: period %v must be positive", ErrArgument, period)
	}
	r := &Repeater{wheel: w, run: f, period: int64(period)}
	now := w.core.Now()
	if err := r.start(now, engine.DeadlineAfter(now, period), fl); err != nil {
		return nil, err
	}
	return r, nil
}

// start sets the timer for the first time.
func (r *Repeater) start(now, due int64, f arena.Flags) error {
	r.mu.Lock() // the first run may begin before due is set
	defer r.mu.Unlock()
	r.task = r.runTask
	r.due = due
	return r.timer.InitSet(r.wheel.core, r.answer, f, now, due)
}

// answer answers the wheel, see engine.Owned.
func (r *Repeater) answer() { r.timer.FireAndKeep(&r.task) }

// Stop ends the repetition: no further run begins. It reports false if the repetition had ended before. It does not
// wait for a run in progress.
func (r *Repeater) Stop() bool {
	engine.RequireMade(r.wheel != nil, "Repeater")
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.ended && r.end()
}

// Reset makes the function run every period from now on, first after one period. It reports whether the Repeater
// continues with that period. If not, nothing has changed: the Repeater has ended, its wheel is stopped, the clock's
// time (292 years) has ended, or period <= 0.
func (r *Repeater) Reset(period time.Duration) bool {
	engine.RequireMade(r.wheel != nil, "Repeater")
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.wheel.core.Now()
	if r.ended || !r.wheel.mayRepeat(now, period) {
		return false
	}
	if r.running {
		r.began, r.due = now, now
	} else if !r.put(now, engine.DeadlineAfter(now, period), false) {
		return false
	}
	if r.plan != nil {
		r.wheel.watch.remove(r)
	}
	r.period, r.plan, r.early = int64(period), nil, false
	return true
}

// restart is Reset after Stop, for a Ticker.
func (r *Repeater) restart(now int64, period time.Duration) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.period, r.unread = int64(period), false
	if r.running { // rest sets the timer
		r.began, r.due, r.ended = now, now, false
		return true
	}
	r.due = engine.DeadlineAfter(now, period)
	_, ok := r.timer.Set(now, r.due)
	r.ended = !ok
	return ok
}

// mayRepeat reports whether a Repeater can have that period from now on.
func (w *Wheel) mayRepeat(now int64, period time.Duration) bool {
	return period > 0 && now < engine.EndOfTime && !w.core.Closed()
}

// notReceived is called by a run that finds the previous tick still in its channel. Nobody waits for the next tick, so
// it may be a Precision late: a Ticker that nobody reads must not keep a processor busy.
func (r *Repeater) notReceived() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unread = true
}

// runTask is the timer's callback.
func (r *Repeater) runTask() {
	begins, skipped := r.begin()
	if !begins {
		return
	}
	defer r.again()
	if !skipped {
		r.run()
	}
}

// begin reports whether a run begins now, and whether the run was missed and is skipped. It is too early for a run if
// the Repeater was reset since it fell due, or if the wall time of the run has not come. Then begin sets the timer
// again.
func (r *Repeater) begin() (begins, skipped bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended || r.running {
		return false, false
	}
	now, due, wait := r.wheel.core.Now(), r.due, time.Duration(0)
	if r.plan != nil {
		wait = r.wheel.until(r.wall)
		due = max(due, engine.DeadlineAfter(now, wait))
	}
	if (now < due || wait > 0) && !r.early { // at the end of the clock's time, due is now even if wait > 0
		r.set(now, due)
		return false, false
	}
	skipped = r.lateBy(-wait) && !r.early
	r.running, r.early, r.began = true, false, now
	return true, skipped
}

// again sets the timer for the next run. If the schedule panics, the Repeater ends, unless it was reset to a period
// meanwhile.
func (r *Repeater) again() {
	var next time.Time
	defer func() { r.rest(next) }()
	if plan := r.planned(); plan != nil {
		next = r.nextOf(plan)
	}
}

// planned returns the schedule that determines the next run, or nil if there is none.
func (r *Repeater) planned() Schedule {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return nil
	}
	return r.plan
}

// set makes the timer due at an elapsed time. mu must be held.
func (r *Repeater) set(now, deadline int64) bool { return r.put(now, deadline, true) }

// put is set, unless held is false and the task of the timer is with the executor. Then that task will set the timer. So
// many calls of Reset leave only one task with the executor. mu must be held.
//
// At the end of time there is no next run, and the Repeater ends.
func (r *Repeater) put(now, deadline int64, held bool) bool {
	if now == engine.EndOfTime {
		r.end()
		return false
	}
	ok := false
	if held {
		_, ok = r.timer.Set(now, deadline)
	} else {
		ok = r.timer.Rearm(now, deadline)
	}
	if ok {
		r.due = deadline
	}
	return ok
}

// end ends the repetition. mu must be held.
func (r *Repeater) end() bool {
	r.ended = true
	if r.plan != nil {
		r.wheel.watch.remove(r)
	}
	return r.timer.Stop()
}
