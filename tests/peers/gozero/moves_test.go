package gozero

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// course is a timer that is set, and moved after some time. It counts in ticks.
type course struct{ start, set, elapsed, move int }

func (c course) due() int { return c.start + c.elapsed + c.move }

// everyCourse returns all courses of up to most ticks.
func everyCourse(most int) (cs []course) {
	for set := 1; set <= most; set++ {
		for elapsed := range set {
			for move := 1; move <= most; move++ {
				cs = append(cs, course{0, set, elapsed, move})
			}
		}
	}
	return cs
}

func randomCourses(n, most int) (cs []course) {
	r := rand.New(rand.NewPCG(1, 2))
	for range n {
		set := 1 + r.IntN(most)
		cs = append(cs, course{r.IntN(most), set, r.IntN(set), 1 + r.IntN(most)})
	}
	return cs
}

// wrong runs all courses on one wheel, each with a key of its own, and counts those that
// did not run at their tick. It requires that those ran once, whole turns early or late.
func (r *rig) wrong(cs []course, move func(key any, delay float64)) int {
	atTick := make(map[int][]func())
	last := 0
	for i, c := range cs {
		atTick[c.start] = append(atTick[c.start], func() { r.set(i, i, float64(c.set)) })
		atTick[c.start+c.elapsed] = append(atTick[c.start+c.elapsed], func() { move(i, float64(c.move)) })
		last = max(last, c.start+c.set, c.due())
	}
	for range last + 3*r.slots {
		for _, f := range atTick[r.now] {
			f()
		}
		r.tick(1)
	}
	wrong := 0
	for i, c := range cs {
		require.Len(r.t, r.ran[i], 1, "%+v", c)
		if off := r.ran[i][0] - c.due(); off != 0 {
			wrong++
			require.Zero(r.t, off%r.slots, "%+v", c)
		}
	}
	return wrong
}

// TestMovesAtTheWrongTick counts the timers that go-zero's wheel runs whole turns of its
// ring early or late after they were moved or set again. It treats both in the same way.
func TestMovesAtTheWrongTick(t *testing.T) {
	for name, c := range map[string]struct {
		slots    int
		courses  []course
		of       int
		onGoZero int
	}{
		"every course, 3 slots":     {3, everyCourse(3 * 3), 405, 84},
		"every course, 10 slots":    {10, everyCourse(3 * 10), 13_950, 3465},
		"random courses, 300 slots": {300, randomCourses(10_000, 3*300), 10_000, 2662},
	} {
		t.Run(name, func(t *testing.T) {
			require.Len(t, c.courses, c.of)
			t.Run("MoveTimer", func(t *testing.T) {
				compare(t, c.slots, c.onGoZero, 0, func(r *rig) int {
					return r.wrong(c.courses, func(key any, delay float64) {
						require.NoError(t, r.MoveTimer(key, intervals(delay)))
					})
				})
			})
			t.Run("SetTimer", func(t *testing.T) {
				compare(t, c.slots, c.onGoZero, 0, func(r *rig) int {
					return r.wrong(c.courses, func(key any, delay float64) { r.set(key, key, delay) })
				})
			})
		})
	}
}

// TestMoveExample runs one such course: set for tick 5, moved by 19 at tick 3.
func TestMoveExample(t *testing.T) {
	compare(t, 10, []int{12}, []int{22}, func(r *rig) []int {
		r.set("key", nil, 5)
		r.tick(3)
		r.move("key", 19)
		r.tick(40)
		return r.ran["key"]
	})
}

// TestMoveBelowTheIntervalRunsTwice: go-zero's wheel runs the task but leaves the timer in
// place.
func TestMoveBelowTheIntervalRunsTwice(t *testing.T) {
	compare(t, 10, []int{1, 4}, []int{1}, func(r *rig) []int {
		r.set("key", nil, 4)
		r.tick(1)
		r.move("key", 0.5)
		r.tick(20)
		return r.ran["key"]
	})
}
