package repeating

import (
	"math"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/tests/internal/wheeltest"
	"github.com/epicycle-go/epicycle/tests/long"
)

func TestEveryDoesNotDrift(t *testing.T) {
	w, m := wheeltest.OnMock(t, hierarchy.Config{})
	m.Add(3)
	const period = 7 * time.Second
	span := 7 * 24 * time.Hour
	if long.On() {
		span = 365 * 24 * time.Hour // four million runs
	}
	runs := 0
	wheeltest.Every(t, w, period, func() {
		runs++
		if want := 3 + time.Duration(runs)*period; m.Elapsed() != want {
			t.Fatalf("run %d came at %v, not at %v", runs, m.Elapsed(), want)
		}
	})
	m.Add(span)
	require.EqualValues(t, span/period, runs)
	require.Equal(t, 1, w.Len())
	require.EqualValues(t, runs, w.Stats().Fired)
	wheeltest.RequireBalance(t, w)
}

func TestEverySkipsMissedRuns(t *testing.T) {
	executors := map[string]hierarchy.Executor{
		"Go": hierarchy.Go, "Inline": hierarchy.Inline, "Pool": hierarchy.Pool(2),
	}
	for name, executor := range executors {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := wheeltest.OnSystem(t, hierarchy.Config{Executor: executor})
				start := time.Now()
				var begun []time.Duration
				running := false
				r := wheeltest.Every(t, w, time.Second, func() {
					require.False(t, running, "runs overlap")
					running = true
					begun = append(begun, time.Since(start))
					require.Equal(t, 1, w.Len())
					time.Sleep(time.Duration(len(begun)) * 900 * time.Millisecond)
					running = false
				})
				wheeltest.Pass(10500 * time.Millisecond)
				r.Stop()
				wheeltest.Pass(time.Minute)
				require.Equal(t, []time.Duration{
					1 * time.Second, 2 * time.Second, 4 * time.Second, 7 * time.Second,
				}, begun)
			})
		})
	}
}

func TestRepeaterStop(t *testing.T) {
	w, m := wheeltest.OnMock(t, hierarchy.Config{})
	runs := 0
	r := wheeltest.Every(t, w, time.Second, func() { runs++ })
	m.Add(2500 * time.Millisecond)
	require.True(t, r.Stop())
	require.False(t, r.Stop())
	require.False(t, r.Reset(time.Second))
	m.Add(time.Hour)
	require.Equal(t, 2, runs)
	require.Zero(t, w.Len())
	require.EqualValues(t, 1, w.Stats().Stopped)
	wheeltest.RequireBalance(t, w)
}

func TestRepeaterStopInsideItsFunction(t *testing.T) {
	w, m := wheeltest.OnMock(t, hierarchy.Config{})
	runs := 0
	var r *hierarchy.Repeater
	r = wheeltest.Every(t, w, time.Second, func() {
		if runs++; runs == 3 {
			require.Equal(t, 1, w.Len())
			require.True(t, r.Stop())
			require.False(t, r.Stop())
			require.Zero(t, w.Len())
		}
	})
	m.Add(time.Hour)
	require.Equal(t, 3, runs)
	wheeltest.RequireBalance(t, w)
}

func TestRepeaterResetInsideItsFunction(t *testing.T) {
	w, m := wheeltest.OnMock(t, hierarchy.Config{})
	var at []time.Duration
	var r *hierarchy.Repeater
	r = wheeltest.Every(t, w, time.Second, func() {
		at = append(at, m.Elapsed())
		require.True(t, r.Reset(time.Duration(len(at))*time.Minute))
		require.False(t, r.Reset(0))
	})
	m.Add(5 * time.Minute)
	require.Equal(t, []time.Duration{time.Second, 61 * time.Second, 181 * time.Second}, at)
	wheeltest.RequireBalance(t, w)
}

func TestRepeaterReset(t *testing.T) {
	w, m := wheeltest.OnMock(t, hierarchy.Config{})
	var at []time.Duration
	r := wheeltest.Every(t, w, 10*time.Second, func() { at = append(at, m.Elapsed()) })
	m.Add(9 * time.Second)
	require.True(t, r.Reset(4*time.Second))
	require.False(t, r.Reset(0))
	require.False(t, r.Reset(-1))
	m.Add(9 * time.Second)
	require.Equal(t, []time.Duration{13 * time.Second, 17 * time.Second}, at)
	w.Stop()
	require.False(t, r.Reset(time.Second))
	require.False(t, r.Stop())
}

func TestRepeaterStopAndResetWhileItRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wheeltest.OnSystem(t, hierarchy.Config{})
		start := time.Now()
		var begun []time.Duration
		r := wheeltest.Every(t, w, time.Second, func() {
			begun = append(begun, time.Since(start))
			time.Sleep(3 * time.Second)
		})
		wheeltest.Pass(1500 * time.Millisecond)
		require.True(t, r.Reset(5*time.Second)) // at 1.5s
		wheeltest.Pass(6 * time.Second)         // to 7.5s; a run began at 6.5s
		require.Equal(t, 1, w.Len())
		require.True(t, r.Stop())
		require.Zero(t, w.Len())
		wheeltest.Pass(time.Minute)
		require.Equal(t, []time.Duration{time.Second, 6500 * time.Millisecond}, begun)
		wheeltest.RequireBalance(t, w)
	})
}

func TestRepeaterResetWhileItRunsOnAStoppedWheel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wheeltest.OnSystem(t, hierarchy.Config{})
		runs := 0
		r := wheeltest.Every(t, w, time.Second, func() { runs++; time.Sleep(time.Second) })
		wheeltest.Pass(1500 * time.Millisecond)
		w.Stop()
		require.False(t, r.Reset(time.Second))
		require.False(t, r.Stop())
		wheeltest.Pass(time.Minute)
		require.Equal(t, 1, runs)
		require.Zero(t, w.Len())
		wheeltest.RequireBalance(t, w)
	})
}

// Stop keeps a run that waits for a worker from beginning.
func TestRepeaterStopBetweenDispatchAndStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wheeltest.OnSystem(t, hierarchy.Config{Executor: hierarchy.Pool(1)})
		_, err := w.AfterFunc(0, func() { time.Sleep(2 * time.Second) })
		require.NoError(t, err)
		runs := 0
		r := wheeltest.Every(t, w, time.Second, func() { runs++ })
		wheeltest.Pass(1500 * time.Millisecond)
		require.Equal(t, 1, w.Stats().Queued)
		require.Equal(t, 1, w.Len())
		require.True(t, r.Stop())
		require.Zero(t, w.Len())
		wheeltest.Pass(time.Minute)
		require.Zero(t, runs)
		wheeltest.RequireBalance(t, w)
	})
}

func TestRepeaterOutlivesPanics(t *testing.T) {
	for _, executor := range []hierarchy.Executor{hierarchy.Inline, hierarchy.Go, hierarchy.Pool(1)} {
		var panics atomic.Int32
		w, m := wheeltest.OnMock(t, hierarchy.Config{Executor: executor, OnPanic: func(any, []byte) { panics.Add(1) }})
		wheeltest.Every(t, w, time.Second, func() { panic("oh") })
		m.Add(10 * time.Second)
		require.EqualValues(t, 10, panics.Load())
		require.Equal(t, 1, w.Len())
		require.EqualValues(t, 10, w.Stats().Panics)
		wheeltest.RequireBalance(t, w)
	}
}

func TestRepeaterOutlivesGoexit(t *testing.T) {
	for _, executor := range []hierarchy.Executor{hierarchy.Inline, hierarchy.Go, hierarchy.Pool(1)} {
		synctest.Test(t, func(t *testing.T) {
			w := wheeltest.OnSystem(t, hierarchy.Config{Executor: executor})
			runs := 0
			r := wheeltest.Every(t, w, time.Second, func() { runs++; runtime.Goexit() })
			wheeltest.Pass(10*time.Second + time.Millisecond)
			require.Equal(t, 10, runs)
			require.True(t, r.Stop())
			require.Zero(t, w.Stats().Running)
			wheeltest.RequireBalance(t, w)
		})
	}
}

// TestRepeaterStopIsTrue races Stop and Reset with runs. No run begins after Stop has
// returned true, and exactly one Stop returns true.
func TestRepeaterStopIsTrue(t *testing.T) {
	for range 200 {
		w := wheeltest.New(t, hierarchy.Config{Clock: clock.System(), Precision: time.Microsecond})
		var stopped atomic.Bool
		var late, running atomic.Int32
		r := wheeltest.Every(t, w, 20*time.Microsecond, func() {
			if running.Add(1) > 1 {
				t.Error("runs overlap")
			}
			running.Add(-1)
			if stopped.Load() {
				late.Add(1)
			}
		})
		trues := make(chan bool)
		for range 2 {
			go func() {
				r.Reset(10 * time.Microsecond)
				trues <- r.Stop()
			}()
		}
		require.NotEqual(t, <-trues, <-trues)
		stopped.Store(true) // one run may have begun before and read this only now
		require.NoError(t, w.Shutdown(t.Context()))
		require.LessOrEqual(t, late.Load(), int32(1))
	}
}

func TestRepeaterResetBetweenHandOverAndStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wheeltest.OnSystem(t, hierarchy.Config{Executor: hierarchy.Pool(1)})
		start := time.Now()
		_, err := w.AfterFunc(0, func() { time.Sleep(2 * time.Second) })
		require.NoError(t, err)
		var begun []time.Duration
		r := wheeltest.Every(t, w, time.Second, func() { begun = append(begun, time.Since(start)) })
		wheeltest.Pass(1500 * time.Millisecond)
		require.True(t, r.Reset(10*time.Second))
		wheeltest.Pass(10500 * time.Millisecond)
		require.Equal(t, []time.Duration{11500 * time.Millisecond}, begun)
	})
}

func TestRepeaterAtTheEndOfTime(t *testing.T) {
	w, m := wheeltest.OnMock(t, hierarchy.Config{})
	runs := 0
	var r *hierarchy.Repeater
	r = wheeltest.Every(t, w, math.MaxInt64/2+1, func() {
		if runs++; runs == 10 {
			r.Stop() // else Add would never return
		}
	})
	m.Add(math.MaxInt64)
	require.LessOrEqual(t, runs, 2)
}

func TestMovedDoesNotCountRuns(t *testing.T) {
	w, m := wheeltest.OnMock(t, hierarchy.Config{})
	r := wheeltest.Every(t, w, time.Second, nop)
	wheeltest.Schedule(t, w, hourly, nop)
	m.Add(3 * time.Hour)
	require.Zero(t, w.Stats().Moved)
	timer := wheeltest.Set(t, w, time.Hour, nop)
	require.True(t, timer.Reset(time.Minute))
	require.EqualValues(t, 1, w.Stats().Moved)
	require.True(t, r.Stop())
	wheeltest.RequireBalance(t, w)
}
