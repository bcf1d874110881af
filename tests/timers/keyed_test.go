package timers

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

func TestUnhashableInsideTypedKeys(t *testing.T) {
	type named struct {
		n int
		v any
	}
	w, err := hierarchy.NewKeyed(hierarchy.Config{Clock: clock.NewMock()}, func(named, int) {})
	require.NoError(t, err)
	defer w.Stop()
	require.ErrorIs(t, w.Set(named{1, []int{}}, 1, 1), hierarchy.ErrArgument)
	require.NoError(t, w.Set(named{1, "x"}, 1, 1))
}

func TestNaNKeysEachFireAndLeaveNothing(t *testing.T) {
	m := clock.NewMock()
	var got []int
	w, err := hierarchy.NewKeyed(hierarchy.Config{Clock: m}, func(_ float64, v int) { got = append(got, v) })
	require.NoError(t, err)
	defer w.Stop()
	for v := range 3 {
		require.NoError(t, w.Set(math.NaN(), v, time.Second))
	}
	require.Equal(t, 3, w.Len())
	_, ok := w.Remove(math.NaN())
	require.False(t, ok)
	m.Add(time.Second)
	require.Equal(t, []int{0, 1, 2}, got)
	require.Zero(t, w.Len())
}

func TestKeyIsFreeWhenItsCallbackRuns(t *testing.T) {
	m := clock.NewMock()
	var w *hierarchy.Keyed[string, int]
	var got []int
	w, err := hierarchy.NewKeyed(hierarchy.Config{Clock: m}, func(k string, v int) {
		got = append(got, v)
		_, _, ok := w.Get(k)
		require.False(t, ok)
		if v < 3 {
			require.NoError(t, w.Set(k, v+1, time.Second))
		}
	})
	require.NoError(t, err)
	defer w.Stop()
	require.NoError(t, w.Set("k", 0, time.Second))
	m.Add(time.Minute)
	require.Equal(t, []int{0, 1, 2, 3}, got)
}

func TestKeyedOnAClosedOrFullWheel(t *testing.T) {
	w, err := hierarchy.NewKeyed(hierarchy.Config{Clock: clock.NewMock(), MaxPending: 1}, func(int, int) {})
	require.NoError(t, err)
	require.NoError(t, w.Set(1, 1, 1))
	require.ErrorIs(t, w.Set(2, 1, 1), hierarchy.ErrFull)
	require.NoError(t, w.Set(1, 2, 1), "setting a pending key again must need no further place")
	_, ok := w.Remove(1)
	require.True(t, ok)
	require.NoError(t, w.Set(2, 1, 1))
	require.Equal(t, 1, w.Drain(nil))
	require.NoError(t, w.Set(3, 1, 1))
	w.Stop()
	require.ErrorIs(t, w.Set(3, 1, 1), hierarchy.ErrClosed)
	_, err = w.Move(3, 1)
	require.ErrorIs(t, err, hierarchy.ErrClosed)
	_, ok = w.Remove(3)
	require.False(t, ok)
	_, _, ok = w.Get(3)
	require.False(t, ok)
	require.Zero(t, w.Drain(nil))
	st := w.Stats()
	require.EqualValues(t, 1, st.Dropped)
	require.EqualValues(t, 1, st.Drained)
	require.EqualValues(t, 1, st.Stopped)
}

func TestNewKeyedNeedsAFunction(t *testing.T) {
	_, err := hierarchy.NewKeyed[int, int](hierarchy.Config{}, nil)
	require.ErrorIs(t, err, hierarchy.ErrNilFunc)
	_, err = hierarchy.NewOf[int](hierarchy.Config{}, nil)
	require.ErrorIs(t, err, hierarchy.ErrNilFunc)
}
