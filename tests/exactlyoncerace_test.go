package tests

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// ending counts how a timer ended. A timer without a count was dropped.
type ending struct{ fired, taken atomic.Int32 }

// reckoning records what many goroutines did with one wheel.
type reckoning struct {
	all     []ending
	set     []atomic.Bool
	drained atomic.Int64
}

func newReckoning(n int) *reckoning {
	return &reckoning{all: make([]ending, n), set: make([]atomic.Bool, n)}
}

func (r *reckoning) fire(id int)  { r.all[id].fired.Add(1) }
func (r *reckoning) take(id int)  { r.all[id].taken.Add(1) }
func (r *reckoning) drain(id int) { r.take(id); r.drained.Add(1) }

// judge requires that each timer ended once and that the wheel's Stats agree. replaced
// is the number of timers that Swap replaced, which Stats counts as Moved.
func (r *reckoning) judge(t *testing.T, st hierarchy.Stats, replaced int64) {
	var set, fired, taken, dropped int64
	for i := range r.all {
		f, k := int64(r.all[i].fired.Load()), int64(r.all[i].taken.Load())
		if !r.set[i].Load() {
			require.Zero(t, f+k, "timer %d was refused, but it ended", i)
			continue
		}
		require.LessOrEqual(t, f+k, int64(1), "timer %d fired %d times and was taken %d times", i, f, k)
		set, fired, taken, dropped = set+1, fired+f, taken+k, dropped+1-f-k
	}
	require.EqualValues(t, set-replaced, st.Scheduled)
	require.EqualValues(t, fired, st.Fired)
	require.EqualValues(t, r.drained.Load(), st.Drained)
	require.EqualValues(t, taken-r.drained.Load()-replaced, st.Stopped)
	require.EqualValues(t, dropped, st.Dropped)
	require.Zero(t, st.Pending)
}

const (
	raceUsers = 4
	raceEach  = 1500
)

// race runs users, each with ids of its own, until all are done. If early is true, one
// of them stops the wheel while the others work.
func race(w ends, early bool, user func(id int, r *rand.Rand)) {
	var users sync.WaitGroup
	for g := range raceUsers {
		users.Go(func() {
			r := rand.New(rand.NewPCG(uint64(g), 0))
			for i := range raceEach {
				user(g*raceEach+i, r)
				if early && g == 0 && i == raceEach/2 {
					w.Stop()
				}
			}
		})
	}
	users.Wait()
}

// brief returns a delay that ends while other users still work.
func brief(r *rand.Rand) time.Duration {
	if r.IntN(20) == 0 {
		return time.Hour
	}
	return time.Duration(r.Int64N(int64(500 * time.Microsecond)))
}

var raceExecutors = map[string]hierarchy.Executor{"Inline": hierarchy.Inline, "Go": hierarchy.Go, "Pool": hierarchy.Pool(2)}

func eachRace(t *testing.T, test func(t *testing.T, cfg hierarchy.Config, early bool)) {
	for name, executor := range raceExecutors {
		t.Run(name, func(t *testing.T) {
			for _, early := range []bool{false, true} {
				test(t, hierarchy.Config{Clock: clock.System(), Executor: executor, Shards: 4, Precision: 50 * time.Microsecond}, early)
			}
		})
	}
}

// On an Of, the timers' Stop and Reset, Drain and the wheel's Stop race with firing and
// with each other.
func TestEachTimerEndsOnce(t *testing.T) {
	eachRace(t, func(t *testing.T, cfg hierarchy.Config, early bool) {
		book := newReckoning(raceUsers * raceEach)
		w := newOf(t, cfg, book.fire)
		timers := make([]atomic.Pointer[hierarchy.Timer], raceUsers*raceEach)
		race(w, early, func(id int, r *rand.Rand) {
			timer, err := w.Set(id, brief(r))
			if err != nil {
				return
			}
			book.set[id].Store(true)
			timers[id].Store(&timer)
			other := r.IntN(len(timers)) // may be another user's
			if p := timers[other].Load(); p != nil {
				switch r.IntN(3) {
				case 0:
					if p.Stop() {
						book.take(other)
					}
				case 1:
					p.Reset(brief(r))
				}
			}
			if r.IntN(400) == 0 {
				w.Drain(book.drain)
			}
		})
		require.NoError(t, w.Shutdown(context.Background()))
		book.judge(t, w.Stats(), 0)
	})
}

// On a Keyed, Set, Swap, Move, Remove and Drain race. The value identifies the timer.
func TestEachKeyedTimerEndsOnce(t *testing.T) {
	eachRace(t, func(t *testing.T, cfg hierarchy.Config, early bool) {
		book := newReckoning(raceUsers * raceEach)
		w, err := hierarchy.NewKeyed(cfg, func(_, id int) { book.fire(id) })
		require.NoError(t, err)
		var replaced atomic.Int64
		race(w, early, func(id int, r *rand.Rand) {
			book.set[id].Store(true)
			switch old, swapped, err := w.Swap(r.IntN(50), id, brief(r)); {
			case err != nil:
				book.set[id].Store(false)
			case swapped:
				book.take(old)
				replaced.Add(1)
			}
			k := r.IntN(50)
			switch r.IntN(4) {
			case 0:
				if v, ok := w.Remove(k); ok {
					book.take(v)
				}
			case 1:
				_, _ = w.Move(k, brief(r))
			}
			if r.IntN(400) == 0 {
				w.Drain(func(_, v int) { book.drain(v) })
			}
		})
		require.NoError(t, w.Shutdown(context.Background()))
		book.judge(t, w.Stats(), replaced.Load())
	})
}

// After Shutdown no callback runs, and none has run twice, although wake-ups, Set and
// Stop all happen at the same time.
func TestNothingRunsAfterShutdown(t *testing.T) {
	for range 30 {
		var over atomic.Bool
		var late, n atomic.Int32
		w := newWheel(t, hierarchy.Config{Clock: clock.System(), Precision: 1})
		for range 200 {
			mustSet(t, w, rand.N(300*time.Microsecond), func() {
				n.Add(1)
				if over.Load() {
					late.Add(1)
				}
			})
		}
		require.NoError(t, w.Shutdown(context.Background()))
		over.Store(true)
		st := w.Stats()
		require.EqualValues(t, n.Load(), st.Fired)
		require.EqualValues(t, 200, st.Fired+st.Dropped)
		require.Zero(t, late.Load())
	}
}
