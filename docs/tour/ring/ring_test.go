package ring

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// runsAt calls Tick until the timer of key runs, and returns the number of ticks.
func runsAt(t *testing.T, r *Ring, key int) int {
	t.Helper()
	for tick := 1; tick <= 1000; tick++ {
		if run := r.Tick(); len(run) > 0 {
			require.Equal(t, []int{key}, run)
			return tick
		}
	}
	t.Fatal("it never runs")
	return 0
}

func pass(t *testing.T, r *Ring, ticks int) {
	t.Helper()
	for range ticks {
		require.Empty(t, r.Tick())
	}
}

// TestSet checks that a timer that is not moved runs at its deadline, wherever the hand is.
func TestSet(t *testing.T) {
	for slots := 1; slots <= 12; slots++ {
		for start := range slots {
			for ticks := 1; ticks <= 4*slots+1; ticks++ {
				r := New(slots)
				pass(t, r, start)
				r.Set(7, ticks)
				require.Equal(t, ticks, runsAt(t, r, 7), "%d slots, from tick %d", slots, start)
				pass(t, r, 3*slots)
			}
		}
	}
}

// TestMove covers the three cases of a move: later in the same turn, later with turns to
// wait for, and earlier.
func TestMove(t *testing.T) {
	for name, c := range map[string]struct{ set, pass, move, runs int }{
		"right: to a later slot":            {5, 3, 4, 4},
		"right: to a slot before the old":   {9, 3, 2, 2},
		"right: to the slot it has":         {5, 3, 2, 2},
		"right: a turn later, a slot back":  {5, 3, 9, 9},
		"right: a turn earlier":             {15, 3, 2, 2},
		"wrong: a turn early, from behind":  {5, 3, 19, 9},
		"wrong: a turn early, two to go":    {5, 3, 29, 19},
		"wrong: a turn late, past the old":  {12, 3, 5, 15},
		"wrong: a turn late, and one to go": {12, 3, 15, 25},
	} {
		t.Run(name, func(t *testing.T) {
			r := New(10)
			r.Set(1, c.set)
			pass(t, r, c.pass)
			r.Move(1, c.move)
			require.Equal(t, c.runs, runsAt(t, r, 1))
			pass(t, r, 30)
		})
	}
}

// TestSetAgain checks that setting an existing timer moves it, and that moving a missing one
// does nothing.
func TestSetAgain(t *testing.T) {
	r := New(10)
	r.Move(1, 3)
	pass(t, r, 30)
	r.Set(1, 5)
	pass(t, r, 3)
	r.Set(1, 19)
	require.Equal(t, 9, runsAt(t, r, 1))
	r.Move(1, 3)
	pass(t, r, 30)
}

// TestManyKeys checks that timers with different keys are independent.
func TestManyKeys(t *testing.T) {
	r := New(10)
	for key := 1; key <= 40; key++ {
		r.Set(key, key)
	}
	for tick := 1; tick <= 40; tick++ {
		require.Equal(t, []int{tick}, r.Tick())
	}
}
