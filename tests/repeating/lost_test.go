package repeating

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/tests/internal/wheeltest"
)

// executorThatMayBeFull panics as long as full is true.
func executorThatMayBeFull() (full *bool, executor hierarchy.Executor) {
	full = new(bool)
	*full = true
	return full, func(task func()) {
		if *full {
			panic("full")
		}
		task()
	}
}

// An executor panics instead of taking a Repeater's task. A Reset that returns true must
// start the Repeater again.
func TestResetOfARepeaterWhoseExecutorHasPanicked(t *testing.T) {
	full, executor := executorThatMayBeFull()
	w, m := wheeltest.OnMock(t, hierarchy.Config{Executor: executor})
	runs := 0
	r := wheeltest.Every(t, w, time.Second, func() { runs++ })
	require.Panics(t, func() { m.Add(time.Second) })
	*full = false
	require.True(t, r.Reset(time.Second))
	m.Add(10 * time.Second)
	require.Equal(t, 10, runs)
}

// A RunNow that returns true starts the Repeater again, too, also if an earlier one was lost.
func TestRunNowOfARepeaterWhoseExecutorHasPanicked(t *testing.T) {
	full, executor := executorThatMayBeFull()
	w, m := wheeltest.OnMock(t, hierarchy.Config{Executor: executor})
	runs := 0
	r := wheeltest.Every(t, w, time.Second, func() { runs++ })
	require.Panics(t, func() { m.Add(time.Second) })
	require.True(t, r.RunNow())
	require.Panics(t, func() { m.Add(0) })
	*full = false
	require.True(t, r.RunNow())
	m.Add(0)
	require.Equal(t, 1, runs)
	m.Add(10 * time.Second)
	require.Equal(t, 11, runs)
}

// If Reset is false, nothing has changed: a run that was dispatched before the wheel was
// stopped still takes place.
func TestResetThatFailsWhileARunWaitsForTheExecutor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tasks []func()
		w := wheeltest.OnSystem(t, hierarchy.Config{Executor: func(task func()) { tasks = append(tasks, task) }})
		runs := 0
		r := wheeltest.Every(t, w, time.Second, func() { runs++ })
		wheeltest.Pass(time.Second + time.Millisecond)
		require.Len(t, tasks, 1)
		w.Stop()
		require.False(t, r.Reset(time.Hour))
		tasks[0]()
		require.Equal(t, 1, runs)
	})
}
