package timers

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// keyedCalls are all calls of a Keyed with a key. They return the bool that the call returns, if it does.
var keyedCalls = map[string]func(w *hierarchy.Keyed[any, int], k any, d time.Duration) (bool, error){
	"Set": func(w *hierarchy.Keyed[any, int], k any, d time.Duration) (bool, error) { return false, w.Set(k, 1, d) },
	"SetAt": func(w *hierarchy.Keyed[any, int], k any, d time.Duration) (bool, error) {
		return false, w.SetAt(k, 1, time.Unix(0, int64(d))) // the mock is at the epoch
	},
	"Swap": func(w *hierarchy.Keyed[any, int], k any, d time.Duration) (bool, error) {
		old, replaced, err := w.Swap(k, 1, d)
		return replaced || old != 0, err
	},
	"SetIfAbsent": func(w *hierarchy.Keyed[any, int], k any, d time.Duration) (bool, error) {
		return w.SetIfAbsent(k, 1, d)
	},
	"SetSooner": func(w *hierarchy.Keyed[any, int], k any, d time.Duration) (bool, error) { return w.SetSooner(k, 1, d) },
	"SetLater":  func(w *hierarchy.Keyed[any, int], k any, d time.Duration) (bool, error) { return w.SetLater(k, 1, d) },
	"Move":      func(w *hierarchy.Keyed[any, int], k any, d time.Duration) (bool, error) { return w.Move(k, d) },
	"Remove": func(w *hierarchy.Keyed[any, int], k any, _ time.Duration) (bool, error) {
		v, ok := w.Remove(k)
		return ok || v != 0, nil
	},
	"Get": func(w *hierarchy.Keyed[any, int], k any, _ time.Duration) (bool, error) {
		v, remaining, ok := w.Get(k)
		return ok || v != 0 || remaining != 0, nil
	},
	"Value": func(w *hierarchy.Keyed[any, int], k any, _ time.Duration) (bool, error) {
		v, ok := w.Value(k)
		return ok || v != 0, nil
	},
}

// returnsNoError are the calls without an error.
var returnsNoError = map[string]bool{"Remove": true, "Get": true, "Value": true}

// badKeys can't be compared.
var badKeys = map[string]any{
	"slice": []int{1}, "map": map[int]int{}, "func": func() {},
	"in an array": [1]any{[]int{}}, "in a struct": struct{ v any }{[]int{}},
}

// requireAlike requires that all calls with k find nothing and change nothing, and return want if they return an error:
// on a mock, and where what is due is dispatched within the call.
func requireAlike(t *testing.T, k any, want error, stop bool) {
	t.Helper()
	for name, call := range keyedCalls {
		for _, c := range []clock.Clock{clock.NewMock(), clock.System()} {
			w, err := hierarchy.NewKeyed(hierarchy.Config{Clock: c}, func(any, int) { t.Error(name) })
			require.NoError(t, err)
			defer w.Stop()
			require.NoError(t, w.Set("pending", 7, time.Hour))
			if stop {
				w.Stop()
			}
			before := w.Stats()
			for _, d := range []time.Duration{-1, 0, time.Minute} {
				found, err := call(w, k, d)
				require.False(t, found, name)
				if returnsNoError[name] {
					require.NoError(t, err, name)
				} else {
					require.ErrorIs(t, err, want, name)
				}
			}
			require.Equal(t, before, w.Stats(), name)
		}
	}
}

func TestKeysThatCannotBeCompared(t *testing.T) {
	for name, k := range badKeys {
		t.Run(name, func(t *testing.T) {
			requireAlike(t, k, hierarchy.ErrArgument, false)
			requireAlike(t, k, hierarchy.ErrArgument, true)
		})
	}
}

func TestKeysAfterStop(t *testing.T) {
	for _, k := range []any{"pending", "other", math.NaN()} {
		requireAlike(t, k, hierarchy.ErrClosed, true)
	}
}

// A key unequal to itself is never pending. Each call that sets makes a new timer.
func TestKeysUnequalToThemselves(t *testing.T) {
	for name, call := range keyedCalls {
		m, fired := clock.NewMock(), 0
		w, err := hierarchy.NewKeyed(hierarchy.Config{Clock: m}, func(any, int) { fired++ })
		require.NoError(t, err)
		defer w.Stop()
		set := 0
		for _, d := range []time.Duration{time.Second, 0, -1, time.Second} {
			if len(name) > 2 && name[:3] == "Set" || name == "Swap" {
				set++
			}
			is, err := call(w, math.NaN(), d)
			require.NoError(t, err, name)
			require.Equal(t, name == "SetIfAbsent" || name == "SetSooner" || name == "SetLater", is, name)
			require.Equal(t, set, w.Len(), name)
		}
		m.Add(time.Second)
		require.Equal(t, set, fired, name)
		require.Zero(t, w.Len(), name)
	}
}
