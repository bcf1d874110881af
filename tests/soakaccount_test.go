package tests

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy"
)

// faults reports failures of the test, at most 20.
type faults struct {
	t *testing.T
	n atomic.Int32
}

func (f *faults) add(format string, args ...any) {
	if f.n.Add(1) <= 20 {
		f.t.Errorf(format, args...)
	}
}

// patience returns how long to wait for an expected event. It is shorter once a fault was
// found, because many other events may then never come.
func (f *faults) patience() time.Duration {
	if f.n.Load() > 0 {
		return patience / 30
	}
	return patience
}

var soakEpoch = time.Now()

// monotonic returns the time used in all accounts. Wheels read the same monotonic clock,
// so bounds hold to the nanosecond.
func monotonic() time.Duration { return time.Since(soakEpoch) }

// record is the account of one timer that was set. It records the results of calls when
// they return. They are judged at the end, because a callback may run before the Reset
// that made it due has returned.
type record struct {
	faults *faults
	key    int  // of a Keyed
	depth  int  // more than 0: the callback of a timer of depth-1 set it
	hidden bool // Keyed.Set may have replaced it, which that call doesn't report
	// moved is the longest that a Move has taken of those that may concern this record unknown to it, or nil.
	// Such a Move counts from its beginning, which may have been before the timer was set.
	moved *atomic.Int64

	mu    sync.Mutex      // orders the calls that set or reset
	timer hierarchy.Timer // guarded by mu, as all below
	from  time.Duration   // the earliest time at which it may be due
	to    time.Duration   // the latest time at which it may be due
	void  bool            // the wheel refused to set it
	moves int

	ranAt, goneAt                atomic.Int64 // when it first ran, and when a call first found it ended
	runs, stops, drains, swapped atomic.Int32
	judged                       atomic.Bool
}

// ran records the start of the callback.
func (r *record) ran() {
	r.ranAt.CompareAndSwap(0, int64(monotonic()))
	r.runs.Add(1)
	if r.judged.Load() {
		r.faults.add("a timer ran after the end of its phase")
	}
}

// set records a call that sets the timer to d from now.
func (r *record) set(d time.Duration, call func() (hierarchy.Timer, error)) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	d, before := max(0, d), monotonic()
	t, err := call()
	r.timer, r.void = t, err != nil
	r.from, r.to = before+d, monotonic()+d
	return err
}

// reset records a call that moves the deadline to d from now. It returns the result of
// the call.
func (r *record) reset(d time.Duration, call func() bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	over := r.ends() > 0
	d, before := max(0, d), monotonic()
	if !call() {
		r.gone()
		return false
	}
	if over {
		r.faults.add("a timer that had ended was reset")
	}
	r.moves++
	r.from, r.to = before+d, monotonic()+d
	return true
}

func (r *record) resetTimer(d time.Duration) bool {
	return r.reset(d, func() bool { return r.timer.Reset(d) })
}

// stop stops the timer. It does not wait for a concurrent reset.
func (r *record) stop() bool {
	t := r.handle()
	if !t.Stop() {
		r.gone()
		return false
	}
	r.stops.Add(1)
	if _, ok := t.Remaining(); ok || t.Active() || t.Stop() || t.Reset(0) {
		r.faults.add("a timer is still active after Stop")
	}
	return true
}

func (r *record) handle() hierarchy.Timer {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.timer
}

// gone records that a call reported that the timer had ended.
func (r *record) gone() { r.goneAt.CompareAndSwap(0, int64(monotonic())) }

// ends returns how often the timer ended.
func (r *record) ends() int {
	return int(r.runs.Load() + r.stops.Load() + r.drains.Load() + r.swapped.Load())
}

// open reports whether the timer was set and has not ended yet.
func (r *record) open() bool {
	if r.ends() > 0 || r.hidden {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.void
}

// judge adds the record to sum and reports its faults. dropped reports whether the wheel was
// stopped, which drops pending timers.
func (r *record) judge(sum *tally, dropped bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.judged.Store(true)
	if r.moved != nil {
		r.from -= time.Duration(r.moved.Load())
	}
	ends, early := r.ends(), r.from-time.Duration(r.ranAt.Load())
	taken := r.stops.Load()+r.drains.Load()+r.swapped.Load() > 0
	switch {
	case r.void && ends > 0:
		r.faults.add("a timer that was refused ended")
	case r.void:
		sum.refused++
		return
	case ends > 1:
		r.faults.add("a timer ran %d times, was stopped %d times, drained %d times and replaced %d times", r.runs.Load(), r.stops.Load(), r.drains.Load(), r.swapped.Load())
	case ends == 0 && r.hidden:
		r.swapped.Add(1)
	case ends == 0 && dropped:
		sum.dropped++
	case ends == 0:
		r.faults.add("a timer is lost: it did not run and was not stopped, drained or replaced")
	case !taken && early > 0:
		r.faults.add("a timer ran %v early", early)
	}
	if gone := time.Duration(r.goneAt.Load()); gone > 0 && gone < r.from && !taken && !dropped {
		r.faults.add("a timer could not be stopped or reset %v before it was due", r.from-gone)
	}
	sum.set++
	sum.fired += int(r.runs.Load())
	sum.stopped += int(r.stops.Load())
	sum.drained += int(r.drains.Load())
	sum.swapped += int(r.swapped.Load())
	sum.moved += r.moves
}

// tally is the sum of a number of records.
type tally struct{ set, fired, stopped, drained, dropped, swapped, moved, refused, panics, runs, received int }

// add adds n times x.
func (y *tally) add(x tally, n int) {
	y.set += n * x.set
	y.fired += n * x.fired
	y.stopped += n * x.stopped
	y.drained += n * x.drained
	y.dropped += n * x.dropped
	y.swapped += n * x.swapped
	y.moved += n * x.moved
	y.refused += n * x.refused
	y.panics += n * x.panics
	y.runs += n * x.runs
	y.received += n * x.received
}

func (y *tally) String() string {
	type bare tally
	return fmt.Sprintf("%+v", bare(*y))
}

// mustCover fails the test if some kind of event never happened.
func (y *tally) mustCover(t *testing.T) {
	for _, n := range []int{y.fired, y.stopped, y.drained, y.dropped, y.swapped, y.moved, y.refused, y.panics, y.runs, y.received} {
		require.Positive(t, n, "%v", y)
	}
}

// agree compares the counters of a wheel with its account.
func (y *tally) agree(f *faults, name string, st hierarchy.Stats) {
	want := hierarchy.Stats{
		Scheduled: uint64(y.set - y.swapped), Fired: uint64(y.fired), Stopped: uint64(y.stopped),
		Drained: uint64(y.drained), Dropped: uint64(y.dropped), Moved: uint64(y.moved + y.swapped), Panics: uint64(y.panics),
	}
	late := st.Lateness.Count()
	st.Cascaded, st.Wakeups, st.Closed = 0, 0, false
	st.Lateness, st.Waited = hierarchy.Histogram{}, hierarchy.Histogram{}
	if st != want || late != want.Fired {
		f.add("%s: Stats are %+v, the account has %+v", name, st, want)
	}
}
