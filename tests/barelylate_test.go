package tests

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy"
)

const years = 365 * 24 * time.Hour

// farAndNear are delays that must all give the same result.
var farAndNear = []time.Duration{1, 1700 * time.Microsecond, 61500 * time.Millisecond, 3 * years, 290 * years}

// A lone timer is late only by the wake-up latency: the alarm is aimed at its deadline,
// to the nanosecond, and rings once.
func TestLoneTimerIsAimedAtExactly(t *testing.T) {
	for _, d := range farAndNear {
		for _, precision := range []time.Duration{1, time.Millisecond, time.Hour} {
			c, fired := &handClock{elapsed: 12345}, 0
			w := newWheel(t, hierarchy.Config{Clock: c, Executor: hierarchy.Inline, Precision: precision})
			mustSet(t, w, d, func() { fired++ })
			at, aimed := c.target()
			require.True(t, aimed)
			require.Equal(t, 12345+d, at)
			c.runTo(at)
			require.Equal(t, 1, fired)
			require.EqualValues(t, 1, w.Stats().Wakeups)
			require.Zero(t, w.Stats().Lateness.Max())
		}
	}
}

// A deadline within one Precision of the last wake-up is aimed at the end of that
// Precision. A later deadline is aimed at exactly.
func TestPrecisionCountsFromTheLastWakeUp(t *testing.T) {
	const precision = time.Millisecond
	for _, d := range farAndNear {
		for gap, want := range map[time.Duration]time.Duration{
			1: precision, precision - 1: precision, precision: precision, precision + 1: precision + 1,
		} {
			c := &handClock{}
			w := newWheel(t, hierarchy.Config{Clock: c, Executor: hierarchy.Inline, Precision: precision})
			var fired []time.Duration
			for _, at := range []time.Duration{d, d + gap} {
				mustSet(t, w, at, func() { fired = append(fired, c.Elapsed()) })
			}
			c.runTo(d + 2*precision)
			require.Equal(t, []time.Duration{d, d + want}, fired, "%v apart, after %v", gap, d)
		}
	}
}

// That also holds for a timer that is set within the Precision after a wake-up.
func TestPrecisionHoldsForTimersSetLater(t *testing.T) {
	const precision = time.Second
	c, fired := &handClock{}, time.Duration(0)
	w := newWheel(t, hierarchy.Config{Clock: c, Executor: hierarchy.Inline, Precision: precision})
	mustSet(t, w, 10, func() {})
	c.runTo(500)
	mustSet(t, w, 1, func() { fired = c.Elapsed() })
	c.runTo(3 * precision)
	require.Equal(t, 10+precision, fired)
	mustSet(t, w, 1, func() { fired = c.Elapsed() })
	c.runTo(5 * precision)
	require.Equal(t, 3*precision+1, fired, "the last wake-up was long ago")
}

// Precision is a distance between wake-ups. It is not a grid that deadlines are rounded
// to.
func TestPrecisionIsNoGrid(t *testing.T) {
	c := &handClock{}
	w := newWheel(t, hierarchy.Config{Clock: c, Executor: hierarchy.Inline, Precision: time.Second})
	deadlines := []time.Duration{300 * time.Millisecond, 1700 * time.Millisecond, 2700*time.Millisecond + 1, 9 * time.Second}
	var fired []time.Duration
	for _, d := range deadlines {
		mustSet(t, w, d, func() { fired = append(fired, c.Elapsed()) })
	}
	c.runTo(time.Minute)
	require.Equal(t, deadlines, fired)
	require.EqualValues(t, 4, w.Stats().Wakeups)
}

// A crowd costs at most one wake-up per Precision, and on a clock that rings in time
// none of its timers is late by more than one Precision, whether they are due after
// 1.7 ms or after 3 years.
func TestCrowdWakesOncePerPrecision(t *testing.T) {
	for _, d := range farAndNear {
		for _, n := range []int{10, 200, 20_000} {
			crowdWakesOncePerPrecision(t, d, n)
		}
	}
}

func crowdWakesOncePerPrecision(t *testing.T, d time.Duration, n int) {
	const precision, width = 700 * time.Microsecond, 10 * time.Millisecond
	c, r, fired := &handClock{}, rand.New(rand.NewPCG(uint64(n), uint64(d))), 0
	w := newOf(t, hierarchy.Config{Clock: c, Executor: hierarchy.Inline, Precision: precision, Shards: 4}, func(deadline time.Duration) {
		late := c.Elapsed() - deadline
		if late < 0 || late > precision {
			t.Fatalf("fired %v late with delays from %v", late, d)
		}
		fired++
	})
	for range n {
		d := d + time.Duration(r.Int64N(int64(width)))
		_, err := w.Set(d, d)
		require.NoError(t, err)
	}
	c.runTo(d + width + precision)
	require.Equal(t, n, fired)
	require.LessOrEqual(t, w.Stats().Lateness.Max(), precision)
	for i := 1; i < len(c.rung); i++ {
		require.GreaterOrEqual(t, c.rung[i]-c.rung[i-1], precision, "wake-up %d of %d", i, len(c.rung))
	}
}

// A clock that wakes the wheel late adds only its latency. All timers due by then fire
// in that wake-up. The next wake-up need not wait for one Precision, because Precision
// counts from the time that the late wake-up was aimed at.
func TestLateWakeUpFiresAllDueTimers(t *testing.T) {
	c, fired := &handClock{}, 0
	w := newOf(t, hierarchy.Config{Clock: c, Executor: hierarchy.Inline, Shards: 4}, func(int) { fired++ })
	for i := range 10_000 {
		_, err := w.Set(i, time.Duration(i+1)*time.Microsecond)
		require.NoError(t, err)
	}
	c.moveTo(5 * time.Millisecond)
	c.ringNow()
	require.Equal(t, 5000, fired)
	at, aimed := c.target()
	require.True(t, aimed)
	require.Equal(t, 5001*time.Microsecond, at)
	c.runTo(at)
	require.Equal(t, 5001, fired)
	at, _ = c.target()
	require.Equal(t, 6001*time.Microsecond, at, "one Precision after the last aim")
}

// An earlier timer moves the aim. A later timer or a Stop never makes it too late.
func TestAimFollowsTheEarliest(t *testing.T) {
	c := &handClock{}
	w := newWheel(t, hierarchy.Config{Clock: c, Executor: hierarchy.Inline})
	nothing := func() {}
	a := mustSet(t, w, time.Hour, nothing)
	for _, step := range []struct {
		do   func()
		want time.Duration
	}{
		{func() { mustSet(t, w, time.Minute, nothing) }, time.Minute},
		{func() { mustSet(t, w, time.Second, nothing) }, time.Second},
		{func() { mustSet(t, w, 2*time.Second, nothing) }, time.Second},
		{func() { a.Reset(time.Millisecond) }, time.Millisecond},
		{func() { mustSet(t, w, 0, nothing) }, 0},
	} {
		step.do()
		at, aimed := c.target()
		require.True(t, aimed)
		require.Equal(t, step.want, at)
	}
}
