package tests

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
)

// repeat is the account of one Repeater.
type repeat struct {
	x        *mixedSite
	running  atomic.Int32
	finished atomic.Bool
	plan     *atPlan // nil: it has a period

	mu      sync.Mutex
	handle  *hierarchy.Repeater // guarded by mu, as all below
	runs    int
	origin  time.Duration // run n since then is due no earlier than n periods later
	period  time.Duration
	since   int // runs since origin
	stopped bool
	after   int // runs after Stop
}

// begin records that it runs with a period from now on. slack is the number of runs that
// may have begun before.
func (r *repeat) begin(period time.Duration, slack int) {
	r.origin, r.period, r.since = monotonic(), period, -slack
}

// reset gives it another period. mu must be held.
func (r *repeat) reset(slack int) {
	if r.stopped {
		slack = 1
	}
	r.begin(millis(), slack)
	if ok := r.handle.Reset(r.period); ok == r.stopped && !r.x.closed.Load() {
		r.x.faults.add("%s: Reset of a repeater returned %v", r.x.name, ok)
	}
}

// run is the function of the Repeater.
func (r *repeat) run() {
	at := monotonic()
	if r.running.Add(1) > 1 {
		r.x.faults.add("%s: runs of a repeater overlap", r.x.name)
	}
	defer r.running.Add(-1)
	r.note(at)
	if rand.IntN(64) == 0 {
		r.x.pass()
	}
	r.x.misbehave()
}

func (r *repeat) note(at time.Duration) {
	if r.plan != nil {
		r.plan.check(r.x)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.runs++
	r.since++
	if due := r.origin + time.Duration(r.since)*r.period; r.since > 0 && at < due {
		r.x.faults.add("%s: run %d of a repeater came %v early", r.x.name, r.since, due-at)
	}
	if r.stopped {
		if r.after++; r.after > 1 {
			r.x.faults.add("%s: a repeater continued after Stop", r.x.name)
		}
	}
	if r.finished.Load() {
		r.x.faults.add("%s: a repeater ran after the end of its phase", r.x.name)
	}
	if r.plan == nil && !r.stopped && r.handle != nil && rand.IntN(20) == 0 {
		r.reset(0)
	}
}

func (r *repeat) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.handle.Stop() == r.stopped {
		r.x.faults.add("%s: Stop of a repeater returned %v", r.x.name, r.stopped)
	}
	r.stopped = true
}

// count returns how many runs have begun.
func (r *repeat) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.runs
}

func (r *repeat) isStopped() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stopped
}

// finish waits for all runs of the plan, or for some runs if there is no plan. It returns
// false if they don't come.
func (r *repeat) finish() bool {
	if r.isStopped() {
		return true
	}
	want := r.count() + 3
	if r.plan != nil {
		want = r.plan.all
	}
	for end := time.Now().Add(r.x.faults.patience()); r.count() < want; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	if r.plan == nil {
		r.stop()
	}
	return true
}

// judge checks the number of runs. It is called when nothing runs any more.
func (r *repeat) judge(dropped bool) {
	r.finished.Store(true)
	if r.plan == nil {
		return
	}
	if n := r.count(); n > r.plan.all || n < r.plan.all && !dropped {
		r.x.faults.add("%s: a schedule of %d runs ran %d times", r.x.name, r.plan.all, n)
	}
}

// atPlan is a Schedule of a limited number of runs.
type atPlan struct {
	mu   sync.Mutex
	all  int
	left int       // guarded by mu, as all below
	wall time.Time // when the next run is due
}

func (p *atPlan) Next(now time.Time) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.left == 0 {
		return time.Time{}
	}
	p.left--
	p.wall = now.Add(millis()).Round(0)
	return p.wall
}

func (p *atPlan) check(x *mixedSite) {
	now := time.Now().Round(0)
	p.mu.Lock()
	defer p.mu.Unlock()
	if early := p.wall.Sub(now); early > 0 {
		x.faults.add("%s: a schedule ran %v early", x.name, early)
	}
}
