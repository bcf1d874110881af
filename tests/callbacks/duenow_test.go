package callbacks

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/tests/internal/wheeltest"
)

// wakeUp has the wheel wake up a moment ago, so that what it gathers waits for a Precision.
func wakeUp(set func(d time.Duration)) {
	set(time.Second)
	wheeltest.Pass(time.Second + time.Millisecond)
}

// past is a Schedule of one time that has passed.
func past() hierarchy.Schedule {
	asked := false
	return wheeltest.Planned(func(now time.Time) time.Time {
		if asked {
			return time.Time{}
		}
		asked = true
		return now.Add(-time.Second)
	})
}

// dueNow is all ways to have a function called that is due when it is set.
var dueNow = map[string]func(t *testing.T, w *hierarchy.Wheel, f func()){
	"AfterFunc":    func(t *testing.T, w *hierarchy.Wheel, f func()) { wheeltest.Set(t, w, 0, f) },
	"AfterFunc -1": func(t *testing.T, w *hierarchy.Wheel, f func()) { wheeltest.Set(t, w, math.MinInt64, f) },
	"At": func(t *testing.T, w *hierarchy.Wheel, f func()) {
		_, err := w.At(time.Now().Add(-time.Hour), f)
		require.NoError(t, err)
	},
	"Timer.Reset": func(t *testing.T, w *hierarchy.Wheel, f func()) {
		require.True(t, wheeltest.Set(t, w, time.Hour, f).Reset(0))
	},
	"Schedule": func(t *testing.T, w *hierarchy.Wheel, f func()) { wheeltest.Schedule(t, w, past(), f) },
}

// What is due when it is set fires at once, not after a Precision.
func TestDueNowIsNow(t *testing.T) {
	for name, set := range dueNow {
		for by, executor := range wheeltest.Executors() {
			t.Run(name+"/"+by, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := wheeltest.New(t, wheeltest.Rough(executor))
					wakeUp(func(d time.Duration) { wheeltest.Set(t, w, d, nop) })
					start, fired := time.Now(), 0
					at := time.Duration(-1)
					set(t, w, func() { fired++; at = time.Since(start) })
					wheeltest.Pass(time.Hour)
					require.Zero(t, at)
					require.Equal(t, 1, fired)
					require.Zero(t, w.Len())
					require.EqualValues(t, 2, w.Stats().Scheduled-w.Stats().Stopped)
					require.EqualValues(t, 2, w.Stats().Lateness.Count())
					require.Zero(t, w.Stats().Lateness.Max())
					wheeltest.RequireBalance(t, w)
				})
			})
		}
	}
}

// dueValues is all ways to have the value 7 fire that is due when it is set. The key 1 is
// pending.
var dueValues = map[string]func(t *testing.T, of *hierarchy.Of[int], keyed *hierarchy.Keyed[int, int]){
	"Of.Set": func(t *testing.T, of *hierarchy.Of[int], _ *hierarchy.Keyed[int, int]) {
		_, err := of.Set(7, 0)
		require.NoError(t, err)
	},
	"Of.Reset": func(t *testing.T, of *hierarchy.Of[int], _ *hierarchy.Keyed[int, int]) {
		timer, err := of.Set(7, time.Hour)
		require.NoError(t, err)
		require.True(t, timer.Reset(-1))
	},
	"Keyed.Set": func(t *testing.T, _ *hierarchy.Of[int], keyed *hierarchy.Keyed[int, int]) {
		require.NoError(t, keyed.Set(7, 7, 0))
	},
	"Keyed.Swap": func(t *testing.T, _ *hierarchy.Of[int], keyed *hierarchy.Keyed[int, int]) {
		old, replaced, err := keyed.Swap(1, 7, -1)
		require.NoError(t, err)
		require.True(t, replaced)
		require.Equal(t, 1, old)
	},
	"Keyed.Move": func(t *testing.T, _ *hierarchy.Of[int], keyed *hierarchy.Keyed[int, int]) {
		require.NoError(t, keyed.Set(1, 7, time.Hour))
		moved, err := keyed.Move(1, 0)
		require.NoError(t, err)
		require.True(t, moved)
	},
}

// The same for wheels of values and of keys.
func TestDueValuesAndKeysAreNow(t *testing.T) {
	for name, set := range dueValues {
		for by, executor := range wheeltest.Executors() {
			t.Run(name+"/"+by, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var fired [8]wheeltest.Moments
					of, err := hierarchy.NewOf(wheeltest.Rough(executor), func(v int) { fired[v].Note() })
					require.NoError(t, err)
					defer of.Stop()
					keyed, err := hierarchy.NewKeyed(wheeltest.Rough(executor), func(_, v int) { fired[v].Note() })
					require.NoError(t, err)
					defer keyed.Stop()
					wakeUp(func(d time.Duration) {
						_, err := of.Set(0, d)
						require.NoError(t, err)
						require.NoError(t, keyed.Set(0, 0, d))
					})
					require.NoError(t, keyed.Set(1, 1, 30*time.Hour))
					start := time.Now()
					set(t, of, keyed)
					wheeltest.Pass(time.Hour)
					require.Equal(t, []time.Duration{0}, fired[7].Since(start))
					require.Empty(t, fired[1].Since(start))
					require.Zero(t, of.Len())
				})
			})
		}
	}
}
