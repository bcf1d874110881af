package tests

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// plan describes the wheels of a site.
type plan struct {
	name   string
	cfg    hierarchy.Config
	crowd  int  // the largest burst
	inline bool // callbacks delay each other
	meek   bool // callbacks don't panic, since there is no OnPanic

	workers int32         // of the Pool; 0: the executor is not a Pool
	busy    *atomic.Int32 // workers that run a callback
}

func plans() []plan {
	const us = time.Microsecond
	return []plan{
		{name: "zero", crowd: crowdOfGo, meek: true},
		{name: "inline", crowd: 100_000, inline: true, cfg: hierarchy.Config{Executor: hierarchy.Inline, Precision: 50 * us, Shards: 4}},
		{name: "pool", crowd: 100_000, workers: 4, busy: new(atomic.Int32), cfg: hierarchy.Config{Executor: hierarchy.Pool(4), Interval: 10 * time.Millisecond}},
		{name: "random", crowd: crowdOfGo, cfg: hierarchy.Config{Executor: randomExecutor(), Clock: clock.System(), Shards: 8}},
		{name: "limited", cfg: hierarchy.Config{Executor: hierarchy.Go, MaxPending: limit, Precision: 200 * us, Shards: 2}},
	}
}

const limit = 100

// randomExecutor returns an executor that passes each task to one of several others.
func randomExecutor() hierarchy.Executor {
	each := []hierarchy.Executor{hierarchy.Go, hierarchy.Inline, hierarchy.Pool(1), hierarchy.Pool(3)}
	return func(task func()) { each[rand.IntN(len(each))](task) }
}

// sites returns wheels of all kinds for one plan.
func (s *soak) sites(p plan) []site {
	return []site{s.newWheelSite(p), s.newOfSite(p), s.newKeyedSite(p), s.newMixedSite(p)}
}

// account has what all sites have in common.
type account struct {
	plan
	faults *faults
	wheel  ends
	panics atomic.Int64 // of callbacks
	told   atomic.Int64 // calls of OnPanic
	closed atomic.Bool  // the wheel is or will be stopped
	sum    tally        // of earlier phases

	mu      sync.Mutex
	records []*record // guarded by mu; of this phase
}

func (a *account) config() hierarchy.Config {
	cfg := a.cfg
	if !a.meek {
		cfg.OnPanic = func(any, []byte) { a.told.Add(1) }
	}
	return cfg
}

// open returns a new record.
func (a *account) open(depth int) *record {
	r := &record{faults: a.faults, depth: depth}
	a.mu.Lock()
	a.records = append(a.records, r)
	a.mu.Unlock()
	return r
}

// excused reports whether the timer was set. It reports a fault if the timer was refused
// without a good reason.
func (a *account) excused(err error) (set bool) {
	switch {
	case err == nil:
		return true
	case errors.Is(err, hierarchy.ErrFull) && a.cfg.MaxPending > 0:
	case errors.Is(err, hierarchy.ErrClosed): // close reports it if the wheel is open
	default:
		a.faults.add("%s: %v", a.name, err)
	}
	return false
}

// soon returns a short delay, which may be zero or negative.
func soon() time.Duration {
	return time.Duration(rand.IntN(int(4*time.Millisecond))) - 200*time.Microsecond
}

// pass takes a little time, as real callbacks do.
func (a *account) pass() {
	if !a.inline {
		time.Sleep(time.Duration(rand.IntN(int(200 * time.Microsecond))))
		return
	}
	for end := monotonic() + 20*time.Microsecond; monotonic() < end; {
	}
}

// misbehave sometimes panics or exits the goroutine.
func (a *account) misbehave() {
	if a.meek {
		return
	}
	switch rand.IntN(500) {
	case 0:
		a.panics.Add(1)
		panic("soak")
	case 1:
		runtime.Goexit()
	}
}

// runOut waits until nothing is pending or running and all timers have ended. It reports
// a fault if nothing happens for a long time.
func (a *account) runOut() {
	last, end := hierarchy.Stats{}, time.Now().Add(a.faults.patience())
	for rest := a.settled(nil); ; rest = a.settled(rest) {
		st := a.wheel.Stats()
		quiet := st.Pending == 0 && st.Queued == 0 && st.Running == 0 && len(rest) == 0
		if quiet && st.Fired == last.Fired && st.Scheduled == last.Scheduled {
			return
		}
		if time.Now().After(end) {
			a.faults.add("%s: nothing happens, but %d timers are pending and %d have not ended", a.name, st.Pending, len(rest))
			return
		}
		if st.Fired != last.Fired && a.faults.n.Load() == 0 {
			end = time.Now().Add(a.faults.patience())
		}
		last = st
		time.Sleep(time.Millisecond)
	}
}

// settled returns the records that are still open. rest is its previous result.
func (a *account) settled(rest []*record) (open []*record) {
	if len(rest) == 0 {
		a.mu.Lock()
		rest = a.records
		a.mu.Unlock()
	}
	for _, r := range rest {
		if r.open() {
			open = append(open, r)
		}
	}
	return open
}

func (a *account) shutdown() {
	ctx, cancel := context.WithTimeout(context.Background(), a.faults.patience())
	defer cancel()
	a.closed.Store(true)
	if err := a.wheel.Shutdown(ctx); err != nil {
		a.faults.add("%s: Shutdown: %v", a.name, err)
	}
	if n := a.wheel.Len(); n != 0 {
		a.faults.add("%s: Len is %d after Shutdown", a.name, n)
	}
}

// close judges the records of this phase.
func (a *account) close() (phase tally) {
	before := a.sum
	for _, r := range a.records {
		r.judge(&a.sum, a.closed.Load())
	}
	a.records = nil
	a.sum.panics = int(a.panics.Load())
	if a.told.Load() != a.panics.Load() {
		a.faults.add("%s: %d panics, but %d calls of OnPanic", a.name, a.panics.Load(), a.told.Load())
	}
	phase = a.sum
	phase.add(before, -1)
	if phase.refused > 0 && a.cfg.MaxPending == 0 && !a.closed.Load() {
		a.faults.add("%s: %d timers were refused", a.name, phase.refused)
	}
	return phase
}
