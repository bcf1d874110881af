package compat_test

import (
	"math"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/compat"
)

// hugeInterval is an interval of which two take the ticks to the largest time.Duration.
const hugeInterval = time.Duration(1 << 62)

func newWheelOfHugeInterval(t *testing.T, execute compat.Execute) (*compat.TimingWheel, *fakeTicker) {
	t.Helper()
	ticker := newFakeTicker()
	w, err := compat.NewTimingWheelWithTicker(hugeInterval, 3, execute, ticker)
	require.NoError(t, err)
	t.Cleanup(w.Stop)
	return w, ticker
}

// The time of the ticks stops at the largest time.Duration. A timer with that delay fires
// when the time gets there, and the wheel can still be used.
func TestTicksToTheEndOfTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tasks := new(taskLog)
		w, ticker := newWheelOfHugeInterval(t, tasks.record)
		require.NoError(t, w.SetTimer("next", 0, 1))
		require.NoError(t, w.SetTimer("second", 0, hugeInterval+1))
		require.NoError(t, w.SetTimer("last", 0, math.MaxInt64))
		for i, want := range [][]string{{"next=0@0"}, {"last=0@1", "second=0@1"}, nil, nil} {
			require.Empty(t, tasks.take())
			tasks.at(i)
			ticker.tick()
			settle()
			require.Equal(t, want, tasks.take())
		}
		require.NoError(t, w.SetTimer("set at the end", 0, math.MaxInt64))
		settle()
		require.Equal(t, []string{"set at the end=0@3"}, tasks.take())
	})
}

// At the end of time every deadline has come already. A task that sets its timer again
// there runs again and again, and still the wheel receives ticks, serves other callers and
// stops.
func TestTaskThatSetsItselfAtTheEndOfTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w *compat.TimingWheel
		var runs atomic.Int64
		often := make(chan bool)
		w, ticker := newWheelOfHugeInterval(t, func(key, _ any) {
			if runs.Add(1) == 1000 {
				close(often)
			}
			_ = w.SetTimer(key, nil, math.MaxInt64) // ErrClosed after Stop
		})
		for key := range 3 {
			require.NoError(t, w.SetTimer(key, nil, math.MaxInt64))
		}
		ticker.tick()
		ticker.tick()
		<-often
		ticker.tick()
		require.NoError(t, w.RemoveTimer("none"))
		require.NoError(t, w.Shutdown(t.Context()))
		require.EqualValues(t, 1, ticker.stops.Load())
		requireClosed(t, w)
	})
}
