package main

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/hierarchy/view/terminal"
)

// TestEarly checks that an early timer is shown and ends the tour.
func TestEarly(t *testing.T) {
	s, out := page()
	err := newTour(options{}, s).lateness(terminal.Delays{-1, 5_000}, terminal.Delays{7_000, 600_000})
	require.ErrorContains(t, err, "this must never happen: 1 timers of the wheel")
	require.Regexp(t, `before their time +1 early +0 early`, out.String())
	require.NoError(t, newTour(options{}, s).lateness(terminal.Delays{0}, terminal.Delays{-1}))
}

func TestHistogram(t *testing.T) {
	s, out := page()
	require.NoError(t, newTour(options{}, s).lateness(terminal.Delays{15_000, 5_000}, terminal.Delays{7_000, 1_600_000}))
	require.True(t, strings.HasPrefix(out.String(), `  late by         wheel                         time.AfterFunc
  below 10 µs       1 ███████████                 1 ███████████
  to 20 µs          1 ███████████
  to 50 µs
  to 100 µs
  to 200 µs
  to 500 µs
  to 1 ms
  to 2 ms                                         1 ███████████
  to 5 ms
  more
`), out.String())
}

// TestTallyClasses checks that a class begins after the ceiling of the one before it and
// ends at its own.
func TestTallyClasses(t *testing.T) {
	last := time.Duration(-1)
	for c := range class(math.MaxInt64) + 1 {
		top := ceiling(c)
		require.Equal(t, c, class(top))
		require.Greater(t, top, last)
		if top < math.MaxInt64 {
			require.Equal(t, c+1, class(top+1))
		}
		last = top
	}
	require.Less(t, class(math.MaxInt64), len(tally{}.counts))
	require.Zero(t, class(-1))
}

func TestTally(t *testing.T) {
	var empty tally
	require.Zero(t, empty.quantile(0.99))
	var got tally
	var all []time.Duration
	for range 10_000 {
		d := time.Duration(math.Exp(rand.Float64() * 20))
		got.add(d)
		all = append(all, d)
	}
	slices.Sort(all)
	require.Equal(t, all[len(all)-1], got.longest)
	require.Equal(t, got.longest, got.quantile(1))
	for _, q := range []float64{0, 0.1, 0.5, 0.9, 0.99, 0.999} {
		exact := all[int(q*float64(len(all)))]
		require.GreaterOrEqual(t, got.quantile(q), exact)
		require.LessOrEqual(t, float64(got.quantile(q)), float64(exact)*(1+1.0/sixteenths))
	}
}

func TestAnyDelay(t *testing.T) {
	for range 10_000 {
		d := anyDelay(shortest, longest)
		require.GreaterOrEqual(t, d, shortest)
		require.LessOrEqual(t, d, longest)
		d = alike(time.Second)
		require.GreaterOrEqual(t, d, time.Second)
		require.LessOrEqual(t, d, 365*24*time.Hour)
	}
}

// TestCrowd checks that settle accounts for every timer of a crowd.
func TestCrowd(t *testing.T) {
	mock := clock.NewMock()
	w, err := hierarchy.New(hierarchy.Config{Clock: mock})
	require.NoError(t, err)
	defer w.Stop()
	s, _ := page()
	c := newCrowd(30_000, w.AfterFunc)
	waits := make([]time.Duration, len(c.timers))
	for i := range waits {
		waits[i] = time.Duration(i + 1)
	}
	require.NoError(t, c.set(waits, s.Progress("", len(waits))))
	require.Positive(t, c.bytes)
	mock.Add(10_000)
	c.cancel(s.Progress("", len(waits)))
	require.Equal(t, 20_000, c.ended)
	require.True(t, c.settle())
	c.fired.Add(1)
	require.False(t, c.settle())
	w.Stop()
	require.ErrorIs(t, c.set(waits, s.Progress("", len(waits))), hierarchy.ErrClosed)
	_, err = strike(10, w.AfterFunc, s.Progress("", 10))
	require.ErrorIs(t, err, hierarchy.ErrClosed)
}

func TestPass(t *testing.T) {
	s, _ := page()
	y, err := pass(1000, s.Progress("", months))
	require.NoError(t, err)
	y.took = 0
	require.Equal(t, passed{ran: 1000, jobs: 365 * 24 * 60}, y)
	y.note(-1, false)
	y.note(1, true)
	require.Equal(t, passed{ran: 1002, early: 1, late: 1, disorder: 1, jobs: 365 * 24 * 60}, y)
}
