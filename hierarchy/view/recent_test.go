package view

import (
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRecentLatenessIsThatOfTheLastMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newLateWheel(t)
		g := newGauge(w)
		w.fire(time.Hour) // before the first snapshot
		require.Equal(t, recentLateness{Buckets: []bucket{}}, g.snapshot().Recent)

		time.Sleep(10 * time.Second)
		w.fire(1<<20, 1<<20, 1<<20)
		s := g.snapshot()
		require.EqualValues(t, 4, s.Lateness.Count)
		require.Equal(t, 10*time.Second, s.Recent.Span)
		require.EqualValues(t, 3, s.Recent.Count)
		require.Equal(t, []bucket{{1<<21 - 1, 3}}, s.Recent.Buckets)
		require.Equal(t, s.Recent.P50, s.Recent.Max)

		time.Sleep(time.Minute) // until a minute after the second snapshot
		w.fire(1 << 10)
		s = g.snapshot()
		require.Equal(t, time.Hour, s.Lateness.Max)
		require.Equal(t, time.Minute, s.Recent.Span)
		require.Equal(t, []bucket{{1<<11 - 1, 1}}, s.Recent.Buckets)
		require.InDelta(t, 1<<10, int64(s.Recent.Max), 1<<7)

		time.Sleep(time.Minute + 1) // all snapshots are older than a minute
		w.fire(1 << 10)
		require.Zero(t, g.snapshot().Recent.Span)
	})
}

// Quantiles of a difference are, to an eighth, those of a wheel that fired nothing before.
func TestRecentQuantiles(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	randomLateness := func(n int) (late []time.Duration) {
		for range n {
			late = append(late, time.Duration(random.Int64N(1<<(1+random.Int64N(40)))))
		}
		return late
	}
	for range 20 {
		both, alone := newLateWheel(t), newLateWheel(t)
		g := newGauge(both)
		both.fire(randomLateness(500)...)
		g.snapshot()
		fresh := randomLateness(1 + int(random.Int64N(300)))
		both.fire(fresh...)
		alone.fire(fresh...)
		got, want := g.snapshot().Recent, newGauge(alone).snapshot().Lateness
		require.Equal(t, want.Buckets, got.Buckets)
		require.Equal(t, want.Count, got.Count)
		for _, q := range [][2]time.Duration{
			{want.P50, got.P50}, {want.P90, got.P90}, {want.P99, got.P99}, {want.P999, got.P999}, {want.Max, got.Max},
		} {
			require.GreaterOrEqual(t, q[1], q[0])
			require.LessOrEqual(t, q[1], q[0]+q[0]/8)
		}
	}
}

// There are few samples, however many snapshots are taken.
func TestSamplesStayFew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newLateWheel(t)
		g := newGauge(w)
		for range 3000 {
			time.Sleep(minInterval)
			w.fire(1)
			g.snapshot()
			require.LessOrEqual(t, len(g.late), 21)
		}
		s := g.snapshot()
		require.LessOrEqual(t, s.Recent.Span, recentWindow)
		require.Greater(t, s.Recent.Span, recentWindow-spacing)
		require.EqualValues(t, s.Recent.Span/minInterval, s.Recent.Count)
	})
}

// changing is a Source that can be replaced with another wheel.
type changing struct{ Source }

func TestSourceThatReturnsAnotherWheel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old, young := newLateWheel(t), newLateWheel(t)
		old.fire(1, 10, 10, 100)
		young.fire(10)
		source := &changing{old}
		g := newGauge(source)
		g.snapshot()
		time.Sleep(time.Second)
		source.Source = young
		require.Equal(t, recentLateness{Buckets: []bucket{}}, g.snapshot().Recent)
		time.Sleep(time.Second)
		young.fire(100)
		require.Equal(t, []bucket{{127, 1}}, g.snapshot().Recent.Buckets)
	})
}
