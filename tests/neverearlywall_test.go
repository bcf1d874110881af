package tests

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// A timer without a delay is due at once, but the call that sets it does not run its
// callback, not even when that call is made in a callback.
func TestNeverInsideTheCall(t *testing.T) {
	for _, d := range []time.Duration{0, -1, -time.Hour, math.MinInt64} {
		c := &handClock{elapsed: 500}
		w := newWheel(t, hierarchy.Config{Clock: c, Executor: hierarchy.Inline})
		inside, fired := false, 0
		callback := func() {
			require.False(t, inside, "called inside the call")
			fired++
		}
		setAll := func() {
			inside = true
			mustSet(t, w, d, callback)
			require.True(t, mustSet(t, w, time.Hour, callback).Reset(d))
			_, err := w.At(c.Now().Add(d), callback)
			require.NoError(t, err)
			inside = false
		}
		setAll()
		mustSet(t, w, 0, setAll)
		require.Zero(t, fired)
		at, aimed := c.target()
		require.True(t, aimed && at <= 500, "the alarm is aimed at %v, not at once", at)
		c.runTo(time.Second)
		require.Equal(t, 6, fired)
	}
}

func TestNeverInsideTheCallOfKeyedAndOf(t *testing.T) {
	for _, d := range []time.Duration{0, -time.Hour} {
		c := &handClock{}
		inside, fired := true, 0
		callback := func() {
			require.False(t, inside, "called inside the call")
			fired++
		}
		k := newKeyed(t, hierarchy.Config{Clock: c, Executor: hierarchy.Inline}, func(string, int) { callback() })
		require.NoError(t, k.Set("set", 0, d))
		require.NoError(t, k.Set("moved", 0, time.Hour))
		_, err := k.Move("moved", d)
		require.NoError(t, err)
		inside = false
		c.runTo(time.Second)
		require.Equal(t, 2, fired)

		c, inside = &handClock{}, true
		o := newOf(t, hierarchy.Config{Clock: c, Executor: hierarchy.Inline}, func(int) { callback() })
		_, err = o.Set(0, d)
		require.NoError(t, err)
		inside = false
		c.runTo(time.Second)
		require.Equal(t, 3, fired)
	}
}

// hourly is a Schedule with a run at every full hour.
type hourly struct{}

func (hourly) Next(now time.Time) time.Time { return now.Truncate(time.Hour).Add(time.Hour) }

// A scheduled run waits for its wall time even if the wall clock is set back.
func TestScheduleNeverBeforeItsWallTime(t *testing.T) {
	m := clock.NewMock()
	w := newWheel(t, hierarchy.Config{Clock: m})
	var runs []time.Duration
	r, err := w.Schedule(hourly{}, func() {
		require.Zero(t, m.Now().Sub(m.Now().Truncate(time.Hour)))
		runs = append(runs, m.Elapsed())
	})
	require.NoError(t, err)
	m.Add(30 * time.Minute)
	m.Jump(-20 * time.Minute) // the wall clock says 0:10
	m.Add(50*time.Minute - 1)
	require.Empty(t, runs)
	m.Add(1)
	require.Equal(t, []time.Duration{80 * time.Minute}, runs)
	m.Add(59 * time.Minute)
	m.Jump(-3 * time.Hour)
	m.Add(3*time.Hour + time.Minute - 1)
	require.Len(t, runs, 1)
	m.Add(1)
	require.Len(t, runs, 2)
	require.True(t, r.Stop())
}

// The delay of At is computed at the call. Setting the wall clock later does not change
// it.
func TestAtCountsFromTheCall(t *testing.T) {
	for _, jump := range []time.Duration{-time.Hour, time.Hour} {
		m := clock.NewMock()
		w := newWheel(t, hierarchy.Config{Clock: m})
		fired := 0
		_, err := w.At(m.Now().Add(time.Minute), func() { fired++ })
		require.NoError(t, err)
		m.Jump(jump)
		m.Add(time.Minute - 1)
		require.Zero(t, fired)
		m.Add(1)
		require.Equal(t, 1, fired)
	}
}

// A Repeater runs at whole multiples of its period only.
func TestRepeaterNeverEarlyAndWithoutDrift(t *testing.T) {
	c := &handClock{elapsed: 7}
	w := newWheel(t, hierarchy.Config{Clock: c, Executor: hierarchy.Inline})
	var runs []time.Duration
	_, err := w.Every(10*time.Millisecond, func() {
		runs = append(runs, c.Elapsed())
		if len(runs) == 2 {
			c.moveTo(c.Elapsed() + 25*time.Millisecond) // the run takes 25 ms
		}
	})
	require.NoError(t, err)
	c.runTo(60*time.Millisecond + 7)
	ms := time.Millisecond
	require.Equal(t, []time.Duration{10*ms + 7, 20*ms + 7, 50*ms + 7, 60*ms + 7}, runs)
}
