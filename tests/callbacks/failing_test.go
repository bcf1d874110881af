package callbacks

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/tests/internal/wheeltest"
)

// A task may start after the Add that dispatched it was ended by a panic. The mock is not
// being moved then.
func TestTaskStartsAfterAddWasCutShort(t *testing.T) {
	m := clock.NewMock()
	var late func()
	v := wheeltest.New(t, hierarchy.Config{Clock: m, Executor: func(task func()) { late = task }})
	w := wheeltest.New(t, hierarchy.Config{Clock: m})
	ran := false
	wheeltest.Set(t, v, 1, func() { ran = true })
	wheeltest.Set(t, w, 1, func() { panic("callback") })
	require.PanicsWithValue(t, "callback", func() { m.Add(1) })
	require.NotNil(t, late)
	late()
	require.True(t, ran)
	wheeltest.Set(t, w, 1, func() { ran = false })
	m.Add(1)
	require.False(t, ran)
}

// An Inline callback that exits its goroutine ends the round of the wheel. The next round
// begins at once, not one Precision later.
func TestGoexitInlineHoldsUpNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wheeltest.New(t, hierarchy.Config{
			Clock: clock.System(), Executor: hierarchy.Inline, Precision: time.Minute, Interval: time.Hour,
		})
		start := time.Now()
		var at []time.Duration
		exit := func() { at = append(at, time.Since(start)); runtime.Goexit() }
		for range 20 {
			wheeltest.Set(t, w, time.Second, exit)
		}
		wheeltest.Set(t, w, time.Second, func() { at = append(at, time.Since(start)) })
		wheeltest.Pass(time.Hour)
		require.Len(t, at, 21)
		for _, d := range at {
			require.Equal(t, time.Second, d)
		}
	})
}

func TestExecutorThatPanics(t *testing.T) {
	full := true
	w, m := wheeltest.OnMock(t, hierarchy.Config{Executor: func(task func()) {
		if full {
			panic("full")
		}
		task()
	}})
	ran := 0
	wheeltest.Set(t, w, 1, func() { ran++ })
	require.PanicsWithValue(t, "full", func() { m.Add(1) })
	require.Zero(t, w.Stats().Queued, "the next Add would wait for ever")
	full = false
	wheeltest.Set(t, w, 1, func() { ran += 10 })
	m.Add(1)
	require.Equal(t, 10, ran)
	wheeltest.RequireIdle(t, w)
}

func TestExecutorThatPanicsAfterTheTask(t *testing.T) {
	w, m := wheeltest.OnMock(t, hierarchy.Config{Executor: func(task func()) { task(); panic("late") }})
	ran := 0
	wheeltest.Set(t, w, 1, func() { ran++ })
	require.PanicsWithValue(t, "late", func() { m.Add(1) })
	require.Equal(t, 1, ran)
	require.Zero(t, w.Stats().Queued+w.Stats().Running)
	wheeltest.RequireIdle(t, w)
}

func TestExecutorThatCallsATaskTwice(t *testing.T) {
	var kept func()
	w, m := wheeltest.OnMock(t, hierarchy.Config{Executor: func(task func()) { kept = task; task() }})
	ran := 0
	wheeltest.Set(t, w, 1, func() { ran++ })
	m.Add(1)
	require.PanicsWithValue(t, "hierarchy: an Executor called a task twice", kept)
	require.Equal(t, 1, ran)
	require.Zero(t, w.Stats().Queued+w.Stats().Running)
	wheeltest.Set(t, w, 1, func() { ran++ })
	m.Add(1)
	require.Equal(t, 2, ran)
	wheeltest.RequireIdle(t, w)
}
