package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCourses checks the figures of docs/migrating-from-go-zero.md. tests/peers/gozero
// checks them with go-zero itself.
func TestCourses(t *testing.T) {
	cs := everyCourse(3 * slots)
	require.Len(t, cs, 13_950)
	theirs, ours, err := playBoth(cs)
	require.NoError(t, err)
	require.Equal(t, 3465, wrong(cs, theirs))
	require.Zero(t, wrong(cs, ours))
	for key, c := range cs {
		require.NotZero(t, theirs[key])
		require.Zero(t, (theirs[key]-c.due())%slots, "%+v: whole turns of the ring off", c)
	}
}

func TestMoves(t *testing.T) {
	s, out := page()
	newTour(options{}, s).moves(course{set: 5, elapsed: 3, move: 5}, 15, 5)
	newTour(options{}, s).moves(course{set: 5, elapsed: 3, move: 19}, 9, 19)
	require.Equal(t, `  go-zero fires after 15  ···············●10 ticks late
  compat  fires after  5  ·····●  on time

  go-zero fires after  9  ·········●            10 ticks early
  compat  fires after 19  ···················●  on time

`, out.String())
}

// TestMockedError checks that the error of a stopped wheel is kept.
func TestMockedError(t *testing.T) {
	m, err := newMocked(slots)
	require.NoError(t, err)
	m.wheel.Stop()
	m.Set(1, 1)
	m.Move(1, 1)
	require.Error(t, m.err)
	_, err = newMocked(0)
	require.Error(t, err)
}
