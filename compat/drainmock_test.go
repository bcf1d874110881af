package compat_test

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/compat"
)

// On a mock Drain calls its function in the caller's goroutine, in the order of the
// deadlines and then of setting, and returns after the last call.
func TestDrainOnMock(t *testing.T) {
	w, m := onMock(t, func(key, _ any) { t.Errorf("%v ran", key) })
	for _, key := range []int{3, 1, 2} {
		require.NoError(t, w.SetTimer(key, fmt.Sprint(key), time.Duration(key)*time.Second))
	}
	for key := 11; key < 30; key++ { // equal deadlines: in the order of setting
		require.NoError(t, w.SetTimer(key, fmt.Sprint(key), time.Minute))
	}
	require.NoError(t, w.SetTimer("moved", "moved", 1))
	require.NoError(t, w.MoveTimer("moved", time.Minute))

	var order []any // needs no lock: no other goroutine calls the function
	require.NoError(t, w.Drain(func(key, value any) {
		require.Equal(t, fmt.Sprint(key), value)
		order = append(order, key)
	}))
	want := []any{1, 2, 3}
	for key := 11; key < 30; key++ {
		want = append(want, key)
	}
	require.Equal(t, append(want, "moved"), order)
	m.Add(time.Hour)
}

// The function may set timers, drain them and stop the wheel, as on other clocks. It is
// still called for timers that were drained before the wheel was stopped.
func TestDrainFunctionOnMockUsesTheWheel(t *testing.T) {
	var trace []any
	w, m := onMock(t, func(key, _ any) { trace = append(trace, key) })
	for key := range 4 {
		require.NoError(t, w.SetTimer(key, nil, time.Duration(1+key)*time.Second))
	}
	require.NoError(t, w.Drain(func(key, _ any) {
		trace = append(trace, key)
		switch key {
		case 0:
			require.NoError(t, w.SetTimer("inner", nil, time.Second))
			require.NoError(t, w.Drain(func(key, _ any) { trace = append(trace, key) }))
			require.NoError(t, w.Drain(func(key, _ any) { t.Errorf("%v is drained again", key) }))
		case 1:
			require.NoError(t, w.SetTimer("fires", nil, time.Second))
			m.Add(time.Second)
		case 2:
			w.Stop()
			requireClosed(t, w)
		}
	}))
	require.Equal(t, []any{0, "inner", 1, "fires", 2, 3}, trace)
}

// Inside a task, Drain does the same.
func TestDrainInsideTaskOnMock(t *testing.T) {
	var trace []any
	var w *compat.TimingWheel
	w, m := onMock(t, func(key, _ any) {
		trace = append(trace, key)
		require.NoError(t, w.Drain(func(key, _ any) { trace = append(trace, "drained", key) }))
		trace = append(trace, "returned")
	})
	for key := range 3 {
		require.NoError(t, w.SetTimer(key, nil, time.Duration(1+key)*time.Second))
	}
	m.Add(time.Hour)
	require.Equal(t, []any{0, "drained", 1, "drained", 2, "returned"}, trace)
}

// A function that exits its goroutine ends the caller of Drain, after it was called for
// the other timers. Shutdown does not wait for that Drain afterwards.
func TestDrainFunctionOnMockThatExits(t *testing.T) {
	synctest.Test(t, testDrainFunctionOnMockThatExits)
}

func testDrainFunctionOnMockThatExits(t *testing.T) {
	w, _ := onMock(t, func(key, _ any) { t.Errorf("%v ran", key) })
	for key := range 5 {
		require.NoError(t, w.SetTimer(key, nil, time.Duration(1+key)*time.Second))
	}
	var keys []any
	returned := false
	var wg sync.WaitGroup
	wg.Go(func() {
		_ = w.Drain(func(key, _ any) {
			keys = append(keys, key)
			if key == 1 || key == 4 {
				runtime.Goexit()
			}
		})
		returned = true
	})
	wg.Wait()
	require.Equal(t, []any{0, 1, 2, 3, 4}, keys)
	require.False(t, returned)
	require.NoError(t, w.Shutdown(t.Context()))
}
