package repeating

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/tests/internal/wheeltest"
)

const sec = time.Second

// repeating makes a Repeater on a mock and a list of the times of its runs. Each run calls
// within, if that is not nil.
func repeating(t *testing.T, s hierarchy.Schedule, within func(r *hierarchy.Repeater)) (r *hierarchy.Repeater, m *clock.Mock, runs *[]time.Duration) {
	w, m := wheeltest.OnMock(t, hierarchy.Config{})
	runs = new([]time.Duration)
	run := func() {
		*runs = append(*runs, m.Elapsed())
		if within != nil {
			within(r)
		}
	}
	var err error
	if s == nil {
		r, err = w.Every(10*sec, run)
	} else {
		r, err = w.Schedule(s, run)
	}
	require.NoError(t, err)
	return r, m, runs
}

// kinds are an Every and a Schedule with the same times.
var kinds = map[string]hierarchy.Schedule{"Every": nil, "Schedule": hierarchy.Aligned(10*sec, 0)}

func TestRunNow(t *testing.T) {
	for name, s := range kinds {
		t.Run(name, func(t *testing.T) {
			r, m, runs := repeating(t, s, nil)
			m.Add(3 * sec)
			require.True(t, r.RunNow())
			require.True(t, r.RunNow(), "it runs once all the same")
			require.Empty(t, *runs)
			m.Add(0)
			require.Equal(t, []time.Duration{3 * sec}, *runs)
			m.Add(20 * sec)
			require.Equal(t, []time.Duration{3 * sec, 20 * sec}, *runs, "the run of 10 s was early")
			require.True(t, r.RunNow())
			m.Add(0)
			require.True(t, r.RunNow())
			m.Add(0)
			m.Add(40 * sec)
			require.Equal(t, []time.Duration{3 * sec, 20 * sec, 23 * sec, 23 * sec, 50 * sec, 60 * sec}, *runs)
		})
	}
}

func TestRunNowWithinARun(t *testing.T) {
	for name, s := range kinds {
		t.Run(name, func(t *testing.T) {
			more := 2
			_, m, runs := repeating(t, s, func(r *hierarchy.Repeater) {
				if more--; more >= 0 {
					require.True(t, r.RunNow())
					require.True(t, r.RunNow())
				}
			})
			m.Add(50 * sec)
			require.Equal(t, []time.Duration{10 * sec, 10 * sec, 10 * sec, 40 * sec, 50 * sec}, *runs)
		})
	}
}

func TestResetForgetsRunNow(t *testing.T) {
	r, m, runs := repeating(t, nil, nil)
	require.True(t, r.RunNow())
	require.True(t, r.Reset(7*sec))
	m.Add(14 * sec)
	require.Equal(t, []time.Duration{7 * sec, 14 * sec}, *runs)
}

func TestRunNowTooLate(t *testing.T) {
	r, m, runs := repeating(t, times{time.Unix(1, 0)}, nil)
	m.Add(sec)
	require.Len(t, *runs, 1)
	require.False(t, r.RunNow(), "the schedule has ended")
	_, ok := r.Next()
	require.False(t, ok)
	w, _ := wheeltest.OnMock(t, hierarchy.Config{})
	r, err := w.Every(sec, nop)
	require.NoError(t, err)
	w.Stop()
	require.False(t, r.RunNow())
	_, ok = r.Next()
	require.False(t, ok)
	require.Panics(t, func() { new(hierarchy.Repeater).RunNow() })
}

// With the executor Go, a run is dispatched within the call, and runs do not overlap.
func TestRunNowAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wheeltest.OnSystem(t, hierarchy.Config{})
		var running, runs atomic.Int32
		r, err := w.Every(time.Hour, func() {
			require.EqualValues(t, 1, running.Add(1))
			time.Sleep(sec)
			running.Add(-1)
			runs.Add(1)
		})
		require.NoError(t, err)
		start := time.Now()
		for range 3 {
			require.True(t, r.RunNow())
			synctest.Wait() // the run has begun
			require.EqualValues(t, 1, running.Load())
		}
		time.Sleep(2*sec + sec/2)
		require.EqualValues(t, 2, runs.Load(), "the third call came while a run was asked for")
		time.Sleep(time.Until(start.Add(3 * time.Hour)))
		require.EqualValues(t, 2, runs.Load())
		time.Sleep(2 * sec)
		require.EqualValues(t, 3, runs.Load(), "the runs of one and two hours were early")
	})
}

// With the executor Go, RunNow takes the run that was set from the wheel, which does not fire it too.
func TestRunNowThatOutlastsThePeriod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wheeltest.OnSystem(t, hierarchy.Config{})
		r := wheeltest.Every(t, w, time.Hour, func() { time.Sleep(90 * time.Minute) })
		require.True(t, r.RunNow())
		wheeltest.Pass(80 * time.Minute)
		require.EqualValues(t, 1, w.Stats().Fired)
		require.True(t, r.Stop())
		wheeltest.Pass(time.Hour)
	})
}

// No executor has RunNow wait for a Precision after a wake-up, not within a run either.
func TestRunNowWaitsForNoPrecision(t *testing.T) {
	for name, executor := range map[string]hierarchy.Executor{
		"Go": hierarchy.Go, "Pool": hierarchy.Pool(1), "Inline": hierarchy.Inline, "another": func(task func()) { go task() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := wheeltest.New(t, hierarchy.Config{Clock: clock.System(), Executor: executor,
					Interval: time.Hour, Precision: time.Hour, MaxPending: 1})
				var runs atomic.Int32
				var r *hierarchy.Repeater
				r = wheeltest.Every(t, w, 24*time.Hour, func() {
					if runs.Add(1)%2 == 1 {
						require.True(t, r.RunNow())
					}
				})
				start := time.Now()
				for n := int32(2); n <= 6; n += 2 {
					wheeltest.Pass(time.Second)
					require.True(t, r.RunNow())
					synctest.Wait() // no time passes
					require.Equal(t, n, runs.Load())
				}
				next, ok := r.Next()
				require.True(t, ok)
				require.Equal(t, start.Add(7*24*time.Hour).Round(0), next)
				wheeltest.RequireBalance(t, w)
			})
		})
	}
}

func TestRepeaterNext(t *testing.T) {
	for name, s := range kinds {
		t.Run(name, func(t *testing.T) {
			at := func(d time.Duration) time.Time { return time.Unix(0, int64(d)).UTC() }
			var within []time.Time
			r, m, _ := repeating(t, s, func(r *hierarchy.Repeater) {
				if next, ok := r.Next(); ok {
					within = append(within, next)
				}
			})
			requireNext := func(d time.Duration) {
				t.Helper()
				next, ok := r.Next()
				require.True(t, ok)
				require.Equal(t, at(d), next)
			}
			requireNext(10 * sec)
			m.Add(10 * sec)
			requireNext(20 * sec)
			m.Add(sec)
			require.True(t, r.RunNow())
			requireNext(11 * sec)
			m.Add(0)
			requireNext(30 * sec)
			if s == nil {
				require.Equal(t, []time.Time{at(20 * sec), at(30 * sec)}, within)
			} else {
				require.Empty(t, within)
			}
			require.True(t, r.Stop())
			_, ok := r.Next()
			require.False(t, ok)
		})
	}
}

// A run begins so late that the next one is due. That one is not skipped, and Next says so.
func TestNextWithinALateRun(t *testing.T) {
	w, c := wheeltest.OnLaggingClock(t, 0)
	begin := c.Now()
	var r *hierarchy.Repeater
	var at, next []time.Duration
	r = wheeltest.Every(t, w, 10*time.Millisecond, func() {
		n, ok := r.Next()
		require.True(t, ok)
		at, next = append(at, c.Elapsed()), append(next, n.Sub(begin))
	})
	c.Lag = 10500 * time.Microsecond
	c.RunTo(21 * time.Millisecond)
	c.Lag = 0
	c.RunTo(30 * time.Millisecond)
	late := 20500 * time.Microsecond
	require.Equal(t, []time.Duration{late, late, 30 * time.Millisecond}, at)
	require.Equal(t, []time.Duration{20 * time.Millisecond, 30 * time.Millisecond, 40 * time.Millisecond}, next)
}
