package hierarchy_test

import (
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// rough returns a configuration whose Precision is a minute, so that what is gathered is
// late by a lot.
func rough(executor hierarchy.Executor) hierarchy.Config {
	return hierarchy.Config{
		Clock: clock.System(), Executor: executor, Precision: time.Minute, Interval: time.Hour,
	}
}

// moments is when a function was called.
type moments struct {
	mu sync.Mutex
	at []time.Time // guarded by mu
}

func (m *moments) note() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.at = append(m.at, time.Now())
}

func (m *moments) since(start time.Time) (all []time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, t := range m.at {
		all = append(all, t.Sub(start))
	}
	return all
}

// wakeUp has the wheel wake up a moment ago, so that what it gathers waits for a Precision.
func wakeUp(set func(d time.Duration)) {
	set(time.Second)
	pass(time.Second + time.Millisecond)
}

// past is a Schedule of one time that has passed.
func past() hierarchy.Schedule {
	asked := false
	return planned(func(now time.Time) time.Time {
		if asked {
			return time.Time{}
		}
		asked = true
		return now.Add(-time.Second)
	})
}

// dueNow is all ways to have a function called that is due when it is set.
var dueNow = map[string]func(t *testing.T, w *hierarchy.Wheel, f func()){
	"AfterFunc":    func(t *testing.T, w *hierarchy.Wheel, f func()) { mustSet(t, w, 0, f) },
	"AfterFunc -1": func(t *testing.T, w *hierarchy.Wheel, f func()) { mustSet(t, w, math.MinInt64, f) },
	"At": func(t *testing.T, w *hierarchy.Wheel, f func()) {
		_, err := w.At(time.Now().Add(-time.Hour), f)
		require.NoError(t, err)
	},
	"Timer.Reset": func(t *testing.T, w *hierarchy.Wheel, f func()) {
		require.True(t, mustSet(t, w, time.Hour, f).Reset(0))
	},
	"Schedule": func(t *testing.T, w *hierarchy.Wheel, f func()) { schedule(t, w, past(), f) },
}

// What is due when it is set fires at once, not after a Precision.
func TestDueNowIsNow(t *testing.T) {
	for name, set := range dueNow {
		for by, executor := range executors() {
			t.Run(name+"/"+by, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newWheel(t, rough(executor))
					wakeUp(func(d time.Duration) { mustSet(t, w, d, nop) })
					start, fired := time.Now(), 0
					at := time.Duration(-1)
					set(t, w, func() { fired++; at = time.Since(start) })
					pass(time.Hour)
					require.Zero(t, at)
					require.Equal(t, 1, fired)
					require.Zero(t, w.Len())
					require.EqualValues(t, 2, w.Stats().Scheduled-w.Stats().Stopped)
					require.EqualValues(t, 2, w.Stats().Lateness.Count())
					require.Zero(t, w.Stats().Lateness.Max())
					requireBalance(t, w)
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
		for by, executor := range executors() {
			t.Run(name+"/"+by, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var fired [8]moments
					of, err := hierarchy.NewOf(rough(executor), func(v int) { fired[v].note() })
					require.NoError(t, err)
					defer of.Stop()
					keyed, err := hierarchy.NewKeyed(rough(executor), func(_, v int) { fired[v].note() })
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
					pass(time.Hour)
					require.Equal(t, []time.Duration{0}, fired[7].since(start))
					require.Empty(t, fired[1].since(start))
					require.Zero(t, of.Len())
				})
			})
		}
	}
}
