package clock_test

import (
	"math"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// A callback that sets its timer again at the end of time, where every timer is due at
// once, does not keep Add from returning.
func TestCallbackThatSetsItselfAtTheEndOfTime(t *testing.T) {
	for _, executor := range []hierarchy.Executor{hierarchy.Inline, hierarchy.Go} {
		m := clock.NewMock()
		w, other := newWheel(t, m, executor), newWheel(t, m, executor)
		calls := 0
		var again func()
		again = func() {
			calls++
			after(t, w, 100*365*24*time.Hour, again)
		}
		again()
		var fired atomic.Int32
		for range 5000 {
			after(t, w, math.MaxInt64, func() { fired.Add(1) })
			after(t, other, math.MaxInt64, func() { fired.Add(1) })
		}
		m.Add(math.MaxInt64)
		require.Equal(t, time.Duration(math.MaxInt64), m.Elapsed())
		require.EqualValues(t, 10_000, fired.Load())
		require.Less(t, calls, 2000)
		require.Equal(t, 1, w.Len(), "the last timer is still pending")
		before := calls
		m.Add(0)
		require.Greater(t, calls, before)
		require.Less(t, calls, before+2000)
		_, ok := m.AddNext()
		require.True(t, ok)
	}
}

// A chain of timers at the end of time fires to its end.
func TestChainAtTheEndOfTime(t *testing.T) {
	m := clock.NewMock()
	w := newWheel(t, m, nil)
	left := 500
	var again func()
	again = func() {
		if left--; left > 0 {
			after(t, w, time.Hour, again)
		}
	}
	after(t, w, math.MaxInt64-1, again)
	m.Add(math.MaxInt64)
	require.Zero(t, left)
	require.Zero(t, w.Len())
}
