package repeating

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/tests/internal/wheeltest"
)

// withRule is a Schedule with a rule for missed runs.
type withRule struct {
	hierarchy.Schedule
	rule hierarchy.Missed
}

func (s withRule) Missed() hierarchy.Missed { return s.rule }

// underEachRule calls f with a Schedule of full hours without a rule, and then with each rule.
func underEachRule(t *testing.T, f func(t *testing.T, name string, s hierarchy.Schedule)) {
	hours := hierarchy.Aligned(time.Hour, 0)
	t.Run("none", func(t *testing.T) { f(t, "none", hours) })
	for _, rule := range []hierarchy.Missed{hierarchy.MissedOnce, hierarchy.MissedSkip, hierarchy.MissedAll} {
		t.Run(rule.String(), func(t *testing.T) { f(t, rule.String(), withRule{hours, rule}) })
	}
}

// The wall clock is set forward from 00:30 to 04:15, or the machine was suspended meanwhile.
func TestRunsThatAJumpOfTheWallClockMisses(t *testing.T) {
	underEachRule(t, func(t *testing.T, rule string, s hierarchy.Schedule) {
		w, m := wheeltest.OnMock(t, hierarchy.Config{})
		var runs []string
		r, err := w.Schedule(s, func() { runs = append(runs, m.Now().Format("15:04")) })
		require.NoError(t, err)
		m.Add(30 * time.Minute)
		m.Jump(3*time.Hour + 45*time.Minute)
		require.Empty(t, runs)
		m.Add(0)
		next, ok := r.Next()
		require.True(t, ok)
		require.Equal(t, "05:00", next.Format("15:04"))
		m.Add(2 * time.Hour)
		require.Equal(t, map[string]string{
			"none": "[04:15 05:00 06:00]",
			"once": "[04:15 05:00 06:00]",
			"skip": "[05:00 06:00]",
			"all":  "[04:15 04:15 04:15 04:15 05:00 06:00]",
		}[rule], fmt.Sprint(runs))
	})
}

// A run is in progress from 01:00 to 04:30.
func TestRunsThatALongRunMisses(t *testing.T) {
	underEachRule(t, func(t *testing.T, rule string, s hierarchy.Schedule) {
		synctest.Test(t, func(t *testing.T) {
			w, start := wheeltest.OnSystem(t, hierarchy.Config{}), time.Now()
			var runs []time.Duration
			_, err := w.Schedule(s, func() {
				if runs = append(runs, time.Since(start).Round(time.Minute)); len(runs) == 1 {
					time.Sleep(3*time.Hour + 30*time.Minute)
				}
			})
			require.NoError(t, err)
			wheeltest.Pass(6*time.Hour + time.Minute)
			require.Equal(t, map[string]string{
				"none": "[1h0m0s 5h0m0s 6h0m0s]",
				"once": "[1h0m0s 4h30m0s 5h0m0s 6h0m0s]",
				"skip": "[1h0m0s 5h0m0s 6h0m0s]",
				"all":  "[1h0m0s 4h30m0s 4h30m0s 4h30m0s 5h0m0s 6h0m0s]",
			}[rule], fmt.Sprint(runs))
		})
	})
}

// A run that is a minute late is not missed, one that is later is.
func TestHowLateAMissedRunIs(t *testing.T) {
	for late, want := range map[time.Duration]int{time.Minute: 1, time.Minute + 1: 0} {
		w, m := wheeltest.OnMock(t, hierarchy.Config{})
		runs := 0
		_, err := w.Schedule(withRule{hierarchy.Aligned(time.Hour, 0), hierarchy.MissedSkip}, func() { runs++ })
		require.NoError(t, err)
		m.Jump(time.Hour + late)
		m.Add(0)
		require.Equal(t, want, runs, late)
	}
}

// RunNow makes a run whatever the rule, also one that is late already.
func TestRunNowOfAMissedRun(t *testing.T) {
	underEachRule(t, func(t *testing.T, rule string, s hierarchy.Schedule) {
		w, m := wheeltest.OnMock(t, hierarchy.Config{})
		runs := 0
		r, err := w.Schedule(s, func() { runs++ })
		require.NoError(t, err)
		m.Jump(time.Hour + 30*time.Minute)
		require.True(t, r.RunNow())
		m.Add(0)
		require.Equal(t, 1, runs)
		next, _ := r.Next()
		require.Equal(t, "02:00", next.Format("15:04"))
	})
}

// A random delay keeps the rule, or that there is none.
func TestJitteredKeepsTheRule(t *testing.T) {
	hours := hierarchy.Aligned(time.Hour, 0)
	s, ok := hierarchy.Jittered(withRule{hours, hierarchy.MissedAll}, time.Minute).(interface{ Missed() hierarchy.Missed })
	require.True(t, ok)
	require.Equal(t, hierarchy.MissedAll, s.Missed())
	_, ok = hierarchy.Jittered(hours, time.Minute).(interface{ Missed() hierarchy.Missed })
	require.False(t, ok)
}

// settable is a clock whose wall clock can be set, which counts how often it is read.
type settable struct {
	clock.Clock
	ahead atomic.Int64
	reads atomic.Int64
}

func (c *settable) Now() time.Time {
	c.reads.Add(1)
	return c.Clock.Now().Add(time.Duration(c.ahead.Load()))
}

func (c *settable) set(by time.Duration) { c.ahead.Add(int64(by)) }

// onSettable returns a wheel and its clock in a synctest bubble.
func onSettable(t *testing.T) (*hierarchy.Wheel, *settable) {
	c := &settable{Clock: clock.System()}
	w, err := hierarchy.New(hierarchy.Config{Clock: c})
	require.NoError(t, err)
	t.Cleanup(w.Stop)
	return w, c
}

// A Repeater waits for a day, and the wall clock is set to its end. That is noticed within ten seconds, also if it is a
// time that the wall clock has shown before.
func TestWallClockSetForward(t *testing.T) {
	for name, before := range map[string]time.Duration{"to a new time": 0, "to an earlier time": -30 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, c := onSettable(t)
				_, err := w.Schedule(times{time.Now().Add(1000 * time.Hour)}, func() {})
				require.NoError(t, err)
				c.set(before)
				wheeltest.Pass(time.Minute)
				due := c.Now().Add(24 * time.Hour)
				ran := false
				_, err = w.Schedule(times{due}, func() {
					require.False(t, c.Now().Before(due))
					ran = true
				})
				require.NoError(t, err)
				wheeltest.Pass(time.Minute)
				c.set(24 * time.Hour)
				wheeltest.Pass(10 * time.Second)
				require.True(t, ran)
			})
		})
	}
}

// A run that fell due is with the executor, and is not given to it again when the wall clock is set.
func TestWallClockSetWhileARunWaitsForTheExecutor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &settable{Clock: clock.System()}
		var tasks []func()
		w, err := hierarchy.New(hierarchy.Config{Clock: c, Executor: func(task func()) { tasks = append(tasks, task) }})
		require.NoError(t, err)
		defer w.Stop()
		runs := 0
		_, err = w.Schedule(hierarchy.Aligned(time.Hour, 0), func() { runs++ })
		require.NoError(t, err)
		wheeltest.Pass(time.Hour + time.Second)
		require.Len(t, tasks, 1)
		c.set(3 * time.Hour)
		wheeltest.Pass(time.Minute)
		require.Len(t, tasks, 1)
		tasks[0]()
		require.Equal(t, 1, runs)
	})
}

// The wall clock is read every ten seconds while a Repeater waits for a wall time, and not at all before and after.
func TestTheWallClockIsWatchedOnlyForRepeaters(t *testing.T) {
	for name, end := range map[string]func(*hierarchy.Wheel, *hierarchy.Repeater){
		"stopped":       func(_ *hierarchy.Wheel, r *hierarchy.Repeater) { r.Stop() },
		"reset":         func(_ *hierarchy.Wheel, r *hierarchy.Repeater) { r.Reset(100 * time.Hour) },
		"wheel stopped": func(w *hierarchy.Wheel, _ *hierarchy.Repeater) { w.Stop() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, c := onSettable(t)
				reads := func() int64 {
					before := c.reads.Load()
					wheeltest.Pass(time.Hour)
					return c.reads.Load() - before
				}
				require.Zero(t, reads())
				other, err := w.Schedule(times{time.Now().Add(24 * time.Hour)}, func() {})
				require.NoError(t, err)
				r, err := w.Schedule(times{time.Now().Add(24 * time.Hour)}, func() {})
				require.NoError(t, err)
				require.EqualValues(t, 360, reads())
				other.Stop()
				require.EqualValues(t, 360, reads())
				end(w, r)
				require.Zero(t, reads())
			})
		})
	}
}

// Repeaters come and go while the wall clock is set forward, and each runs once for each time.
func TestManyRepeatersWhileTheWallClockIsSet(t *testing.T) {
	w, m := wheeltest.OnMock(t, hierarchy.Config{})
	runs := make([]int, 100)
	var repeaters []*hierarchy.Repeater
	for i := range runs {
		r, err := w.Schedule(withRule{hierarchy.Aligned(time.Hour, 0), hierarchy.MissedAll}, func() { runs[i]++ })
		require.NoError(t, err)
		repeaters = append(repeaters, r)
	}
	for i := range runs {
		m.Jump(time.Hour)
		m.Add(0)
		require.True(t, repeaters[(i*37)%100].Stop())
	}
	for i := range runs {
		require.Equal(t, i+1, runs[(i*37)%100])
	}
	require.Zero(t, w.Len())
}

// Repeaters are set, stopped and reset by several goroutines while the wall clock is set.
func TestWallClockSetBesideOtherCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, c := onSettable(t)
		var all sync.WaitGroup
		for seed := range uint64(4) {
			all.Go(func() {
				r := rand.New(rand.NewPCG(seed, 1))
				for range 300 {
					repeater, err := w.Schedule(hierarchy.Aligned(time.Hour, 0), func() {})
					require.NoError(t, err)
					time.Sleep(time.Duration(r.Int64N(int64(time.Hour))))
					switch r.IntN(3) {
					case 0:
						c.set(time.Duration(r.Int64N(int64(4*time.Hour))) - 2*time.Hour)
					case 1:
						repeater.Reset(time.Minute)
					}
					time.Sleep(time.Duration(r.Int64N(int64(time.Minute))))
					require.True(t, repeater.Stop())
				}
			})
		}
		all.Wait()
		require.Zero(t, w.Len())
	})
}
