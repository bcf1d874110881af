package gozero

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/docs/tour/ring"
)

// TestRing requires that the ring of docs/tour, which represents go-zero's wheel there,
// runs every timer at the same tick as go-zero's own wheel.
func TestRing(t *testing.T) {
	for name, c := range map[string]struct {
		slots   int
		courses []course
	}{
		"every course, 1 slot":      {1, everyCourse(4)},
		"every course, 3 slots":     {3, everyCourse(4 * 3)},
		"every course, 10 slots":    {10, everyCourse(4 * 10)},
		"random courses, 10 slots":  {10, randomCourses(5_000, 50)},
		"random courses, 64 slots":  {64, randomCourses(5_000, 5*64)},
		"random courses, 300 slots": {300, randomCourses(5_000, 3*300)},
	} {
		t.Run(name, func(t *testing.T) {
			for _, again := range []bool{false, true} {
				want := ranOnGoZero(t, c.slots, c.courses, again)
				require.Equal(t, want, ranOnRing(c.slots, c.courses, again), "set again: %v", again)
			}
		})
	}
}

// player runs courses on a wheel, each with a key of its own.
type player struct {
	set, move func(key, ticks int)
	tick      func()
}

// play runs all courses until the last timer must have run on either wheel. If again is
// true, it sets timers a second time instead of moving them.
func (p player) play(slots int, cs []course, again bool) {
	atTick := make(map[int][]func())
	last := 0
	for key, c := range cs {
		move := p.move
		if again {
			move = p.set
		}
		then := c.start + c.elapsed
		atTick[c.start] = append(atTick[c.start], func() { p.set(key, c.set) })
		atTick[then] = append(atTick[then], func() { move(key, c.move) })
		last = max(last, c.start+c.set, c.due())
	}
	for now := range last + 3*slots {
		for _, f := range atTick[now] {
			f()
		}
		p.tick()
	}
}

// ranOnGoZero returns the ticks at which each course ran on go-zero's wheel.
func ranOnGoZero(t *testing.T, slots int, cs []course, again bool) [][]int {
	ran := make([][]int, len(cs))
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, goZero, slots)
		defer r.Stop()
		player{
			set:  func(key, ticks int) { r.set(key, nil, float64(ticks)) },
			move: func(key, ticks int) { require.NoError(t, r.MoveTimer(key, intervals(float64(ticks)))) },
			tick: func() { r.tick(1) },
		}.play(slots, cs, again)
		for key := range cs {
			ran[key] = r.ran[key]
		}
	})
	return ran
}

func ranOnRing(slots int, cs []course, again bool) [][]int {
	ran := make([][]int, len(cs))
	r, now := ring.New(slots), 0
	player{
		set: r.Set, move: r.Move,
		tick: func() {
			now++
			for _, key := range r.Tick() {
				ran[key] = append(ran[key], now)
			}
		},
	}.play(slots, cs, again)
	return ran
}
