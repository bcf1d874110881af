package timers

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// conditional are the methods that set a key under a condition.
func conditional[K comparable](w *hierarchy.Keyed[K, int]) map[string]func(K, int, time.Duration) (bool, error) {
	return map[string]func(K, int, time.Duration) (bool, error){
		"SetIfAbsent": w.SetIfAbsent, "SetSooner": w.SetSooner, "SetLater": w.SetLater,
	}
}

// What can't be set is an error and false, also if it would be due at once.
func TestConditionsThatFail(t *testing.T) {
	w, err := hierarchy.NewKeyed(hierarchy.Config{Clock: clock.NewMock(), MaxPending: 1}, func(any, int) {})
	require.NoError(t, err)
	requireFails := func(k any, want error) {
		t.Helper()
		for name, set := range conditional(w) {
			for _, d := range []time.Duration{-1, 0, time.Second} {
				set, err := set(k, 1, d)
				require.ErrorIs(t, err, want, name)
				require.False(t, set, name)
			}
		}
		require.ErrorIs(t, w.SetAt(k, 1, time.Unix(1, 0)), want)
	}
	requireFails([]int{1}, hierarchy.ErrArgument)
	require.NoError(t, w.Set("a", 1, time.Minute))
	requireFails("b", hierarchy.ErrFull)
	for name, set := range conditional(w) { // a pending key needs no further place
		_, err := set("a", 1, time.Minute)
		require.NoError(t, err, name)
	}
	w.Stop()
	requireFails("a", hierarchy.ErrClosed)
	require.EqualValues(t, 1, w.Stats().Scheduled)
}

// The delay of SetAt is computed once, from the wall clock as it is set by then.
func TestSetAt(t *testing.T) {
	m := clock.NewMock()
	m.Add(time.Hour)
	m.Jump(-24 * time.Hour)
	w, err := hierarchy.NewKeyed(hierarchy.Config{Clock: m}, func(string, int) {})
	require.NoError(t, err)
	defer w.Stop()
	now := m.Now()
	for key, c := range map[string]struct {
		at   time.Time
		left time.Duration
	}{
		"soon":     {now.Add(time.Second), time.Second},
		"now":      {now, 0},
		"past":     {now.Add(-time.Hour), 0},
		"zero":     {time.Time{}, 0},
		"far":      {now.AddDate(1000, 0, 0), math.MaxInt64 - time.Hour}, // the end of the clock's time
		"far past": {now.AddDate(-1000, 0, 0), 0},
	} {
		require.NoError(t, w.SetAt(key, 1, c.at))
		_, left, ok := w.Get(key)
		require.True(t, ok)
		require.Equal(t, c.left, left, key)
	}
	m.Jump(48 * time.Hour)
	m.Add(time.Second - 1)
	_, _, ok := w.Get("soon")
	require.True(t, ok, "the timer must not follow the wall clock")
	m.Add(1)
	require.Equal(t, 1, w.Len())
}
