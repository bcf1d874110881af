package hierarchy_test

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// Shutdown waits for the callback of a timer as soon as Len no longer counts the timer,
// even if the callback has not begun.
func TestShutdownWaitsForWhatWasTakenOut(t *testing.T) {
	for i := range 2000 {
		w, err := hierarchy.New(hierarchy.Config{Clock: clock.System(), Shards: 1})
		require.NoError(t, err)
		var ran atomic.Bool
		_, err = w.AfterFunc(time.Duration(i%2), func() { ran.Store(true) }) // 0 never waits
		require.NoError(t, err)
		for n := 1; w.Len() > 0; n++ {
			if n%10_000 == 0 {
				runtime.Gosched() // needed if there is one processor; rarely, to notice at once
			}
		}
		require.NoError(t, w.Shutdown(context.Background()))
		require.True(t, ran.Load())
	}
}

// A task may start after the Add that dispatched it was ended by a panic. The mock is not
// being moved then.
func TestTaskStartsAfterAddWasCutShort(t *testing.T) {
	m := clock.NewMock()
	var late func()
	v := newWheel(t, hierarchy.Config{Clock: m, Executor: func(task func()) { late = task }})
	w := newWheel(t, hierarchy.Config{Clock: m})
	ran := false
	mustSet(t, v, 1, func() { ran = true })
	mustSet(t, w, 1, func() { panic("callback") })
	require.PanicsWithValue(t, "callback", func() { m.Add(1) })
	require.NotNil(t, late)
	late()
	require.True(t, ran)
	mustSet(t, w, 1, func() { ran = false })
	m.Add(1)
	require.False(t, ran)
}

// An Inline callback that exits its goroutine ends the round of the wheel. The next round
// begins at once, not one Precision later.
func TestGoexitInlineHoldsUpNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWheel(t, hierarchy.Config{
			Clock: clock.System(), Executor: hierarchy.Inline, Precision: time.Minute, Interval: time.Hour,
		})
		start := time.Now()
		var at []time.Duration
		exit := func() { at = append(at, time.Since(start)); runtime.Goexit() }
		for range 20 {
			mustSet(t, w, time.Second, exit)
		}
		mustSet(t, w, time.Second, func() { at = append(at, time.Since(start)) })
		pass(time.Hour)
		require.Len(t, at, 21)
		for _, d := range at {
			require.Equal(t, time.Second, d)
		}
	})
}

func TestExecutorThatPanics(t *testing.T) {
	full := true
	w, m := onMock(t, hierarchy.Config{Executor: func(task func()) {
		if full {
			panic("full")
		}
		task()
	}})
	ran := 0
	mustSet(t, w, 1, func() { ran++ })
	require.PanicsWithValue(t, "full", func() { m.Add(1) })
	require.Zero(t, w.Stats().Queued, "the next Add would wait for ever")
	full = false
	mustSet(t, w, 1, func() { ran += 10 })
	m.Add(1)
	require.Equal(t, 10, ran)
	requireIdle(t, w)
}

// requireIdle requires that Shutdown has nothing to wait for.
func requireIdle(t *testing.T, w *hierarchy.Wheel) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, w.Shutdown(ctx))
}

func TestExecutorThatPanicsAfterTheTask(t *testing.T) {
	w, m := onMock(t, hierarchy.Config{Executor: func(task func()) { task(); panic("late") }})
	ran := 0
	mustSet(t, w, 1, func() { ran++ })
	require.PanicsWithValue(t, "late", func() { m.Add(1) })
	require.Equal(t, 1, ran)
	require.Zero(t, w.Stats().Queued+w.Stats().Running)
	requireIdle(t, w)
}

func TestExecutorThatCallsATaskTwice(t *testing.T) {
	var kept func()
	w, m := onMock(t, hierarchy.Config{Executor: func(task func()) { kept = task; task() }})
	ran := 0
	mustSet(t, w, 1, func() { ran++ })
	m.Add(1)
	require.PanicsWithValue(t, "hierarchy: an Executor called a task twice", kept)
	require.Equal(t, 1, ran)
	require.Zero(t, w.Stats().Queued+w.Stats().Running)
	mustSet(t, w, 1, func() { ran++ })
	m.Add(1)
	require.Equal(t, 2, ran)
	requireIdle(t, w)
}

func TestChanTimerDroppedWithItsWheel(t *testing.T) {
	w, _ := onMock(t, hierarchy.Config{})
	timer, err := w.NewTimer(1)
	require.NoError(t, err)
	w.Stop()
	require.False(t, timer.Stop(), "the stopped wheel had already dropped the timer")
	require.False(t, timer.Reset(1))
	require.False(t, timer.Stop())
	require.EqualValues(t, 1, w.Stats().Dropped)
}
