package tests

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// delaysAtBoundaries returns delays around every boundary between slots and circles.
func delaysAtBoundaries() (delays []time.Duration) {
	for bit := range 62 {
		d := time.Duration(1) << bit
		delays = append(delays, d-1, d, d+1)
	}
	return append(delays, forever-12346, 61500*time.Millisecond)
}

// No timer is early on a clock that rings early and often.
func TestNeverEarlyWhenTheClockRingsTooSoon(t *testing.T) {
	for _, d := range delaysAtBoundaries() {
		for _, start := range []time.Duration{0, 1, 12345} {
			c, fired := &handClock{elapsed: start}, 0
			w := newWheel(t, hierarchy.Config{Clock: c, Executor: hierarchy.Inline})
			mustSet(t, w, d, func() { fired++ })
			c.moveTo(start + d/2)
			c.ringNow()
			c.moveTo(start + d - 1)
			c.ringNow()
			require.Equal(t, d == 0, fired == 1, "a nanosecond before a delay of %v from %v", d, start)
			c.moveTo(start + d)
			c.ringNow()
			require.Equal(t, 1, fired, "at the end of a delay of %v from %v", d, start)
		}
	}
}

// No timer of a crowd around a boundary is early when the alarm rings at every
// nanosecond.
func TestNeverEarlyInACrowd(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, middle := range []time.Duration{64, 4096, 1 << 24, 1 << 30, 1 << 36} {
		c, due := &handClock{}, map[time.Duration]int{}
		w := newOf(t, hierarchy.Config{Clock: c, Executor: hierarchy.Inline, Precision: 1}, func(at time.Duration) {
			require.LessOrEqual(t, at, c.Elapsed())
			due[at]--
		})
		for range 2000 {
			d := middle - 50 + time.Duration(r.IntN(100))
			due[d]++
			_, err := w.Set(d, d)
			require.NoError(t, err)
		}
		for at := middle - 50; at < middle+50; at++ {
			c.moveTo(at)
			c.ringNow()
			require.Zero(t, due[at], "timers that did not fire at %v", at)
		}
	}
}

// On real clocks, the wheel's own clock in the callback shows that no timer is early.
func TestNeverEarlyOnRealClocks(t *testing.T) {
	for name, c := range realClocks() {
		t.Run(name, func(t *testing.T) {
			w := newWheel(t, hierarchy.Config{Clock: c, Precision: 100 * time.Microsecond})
			early := make(chan time.Duration, 300)
			for range cap(early) {
				d := rand.N(3 * time.Millisecond)
				deadline := c.Elapsed() + d
				mustSet(t, w, d, func() { early <- deadline - c.Elapsed() })
			}
			for range cap(early) {
				require.LessOrEqual(t, <-early, time.Duration(0))
			}
		})
	}
}

func realClocks() map[string]clock.Clock {
	return map[string]clock.Clock{
		"system": clock.System(), "precise": clock.Precise(), "spinning": clock.Spinning(50 * time.Microsecond),
	}
}

// The sum of elapsed time and delay does not overflow.
func TestNeverEarlyAtTheEndOfTime(t *testing.T) {
	m := clock.NewMock()
	w := newWheel(t, hierarchy.Config{Clock: m})
	m.Add(time.Hour)
	fired := 0
	for _, d := range []time.Duration{forever, forever - time.Hour + 1, forever - time.Hour} {
		timer := mustSet(t, w, d, func() { fired++ })
		left, ok := timer.Remaining()
		require.True(t, ok)
		require.Equal(t, forever-time.Hour, left, "the deadline must saturate at 292 years")
	}
	m.Add(forever - time.Hour - 1)
	require.Zero(t, fired)
	m.Add(forever)
	require.Equal(t, 3, fired)
	require.Equal(t, forever, m.Elapsed())
}

// A delay counts from the call, on the wheel's clock, even if the wall clock is set.
// The delay until a wall time is computed at the call.
func TestNeverEarlyHoweverItIsSet(t *testing.T) {
	for name, start := range starters {
		t.Run(name, func(t *testing.T) {
			for _, d := range []time.Duration{1, 63, 64, 65, 1700 * time.Microsecond, 61500 * time.Millisecond, 3 * 365 * 24 * time.Hour} {
				m := clock.NewMock()
				w := newWheel(t, hierarchy.Config{Clock: m, Precision: time.Second})
				m.Add(12345)
				m.Jump(time.Hour)
				happened := start(t, w, m, d)
				require.False(t, happened())
				m.Add(d - 1)
				require.False(t, happened(), "happened a nanosecond before %v", d)
				m.Add(1)
				require.True(t, happened(), "has not happened at %v", d)
			}
		})
	}
}

// starters returns all ways to make something happen after a delay.
var starters = map[string]func(t *testing.T, w *wheel, m *clock.Mock, d time.Duration) (happened func() bool){
	"AfterFunc": func(t *testing.T, w *wheel, _ *clock.Mock, d time.Duration) func() bool {
		f, called := flagged()
		mustSet(t, w, d, f)
		return called
	},
	"At": func(t *testing.T, w *wheel, m *clock.Mock, d time.Duration) func() bool {
		f, called := flagged()
		_, err := w.At(m.Now().Add(d), f)
		require.NoError(t, err)
		return called
	},
	"Reset": func(t *testing.T, w *wheel, _ *clock.Mock, d time.Duration) func() bool {
		f, called := flagged()
		require.True(t, mustSet(t, w, 1, f).Reset(d))
		return called
	},
	"Every": func(t *testing.T, w *wheel, _ *clock.Mock, d time.Duration) func() bool {
		f, called := flagged()
		_, err := w.Every(d, f)
		require.NoError(t, err)
		return called
	},
	"Repeater.Reset": func(t *testing.T, w *wheel, _ *clock.Mock, d time.Duration) func() bool {
		f, called := flagged()
		r, err := w.Every(1, f)
		require.NoError(t, err)
		require.True(t, r.Reset(d))
		return called
	},
	"Schedule": func(t *testing.T, w *wheel, m *clock.Mock, d time.Duration) func() bool {
		f, called := flagged()
		_, err := w.Schedule(once(m.Now().Add(d)), f)
		require.NoError(t, err)
		return called
	},
	"After": func(t *testing.T, w *wheel, _ *clock.Mock, d time.Duration) func() bool {
		c, err := w.After(d)
		require.NoError(t, err)
		return func() bool { return len(c) == 1 }
	},
	"NewTimer": func(t *testing.T, w *wheel, _ *clock.Mock, d time.Duration) func() bool {
		timer, err := w.NewTimer(d)
		require.NoError(t, err)
		return func() bool { return len(timer.C) == 1 }
	},
	"NewTicker": func(t *testing.T, w *wheel, _ *clock.Mock, d time.Duration) func() bool {
		ticker, err := w.NewTicker(d)
		require.NoError(t, err)
		return func() bool { return len(ticker.C) == 1 }
	},
	"WithTimeout": func(t *testing.T, w *wheel, _ *clock.Mock, d time.Duration) func() bool {
		c, cancel := w.WithTimeout(context.Background(), d)
		t.Cleanup(cancel)
		return func() bool { return c.Err() != nil }
	},
	"WithDeadline": func(t *testing.T, w *wheel, m *clock.Mock, d time.Duration) func() bool {
		c, cancel := w.WithDeadline(context.Background(), m.Now().Add(d))
		t.Cleanup(cancel)
		return func() bool { return c.Err() != nil }
	},
}

// flagged returns a callback and a function that reports whether it was called.
func flagged() (f func(), called func() bool) {
	n := 0
	return func() { n++ }, func() bool { return n > 0 }
}

// once is a Schedule with one time.
type once time.Time

func (o once) Next(now time.Time) time.Time {
	if now.Before(time.Time(o)) {
		return time.Time(o)
	}
	return time.Time{}
}
