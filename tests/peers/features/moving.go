package main

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/tests/peers/contender"
)

// course is a timer that is set to run after set. When elapsed has passed, it is reset to run after reset. All fields
// are in units.
type course struct {
	set, elapsed int
	reset        float64
}

// courses returns courses of up to two turns of a ring. Some are reset to half a unit.
func courses(n int) []course {
	random := rand.New(rand.NewPCG(1, 2))
	cs := make([]course, n)
	for i := range cs {
		set := 3 + random.IntN(2*slots)
		cs[i] = course{set, random.IntN(set - 2), float64(1 + random.IntN(2*slots))}
		if i%10 == 0 {
			cs[i].reset = 0.5
		}
	}
	return cs
}

// misses counts the courses that ran early, late, never or more than once.
type misses struct{ early, late, never, more int }

func (m misses) sum() int { return m.early + m.late + m.never + m.more }

// resets counts timers that are more than an interval early, or half a turn of the ring late. A busy machine can also
// cause this, so the best of several tries counts.
func (s *subject) resets() outcome {
	if _, ok := s.open(1).(contender.Resetter); !ok {
		return lacks("there is no Reset")
	}
	const n, tries = 200, 3
	best := misses{late: n + 1}
	for range tries {
		if m := s.run(courses(n)); m.sum() < best.sum() {
			best = m
		}
		if best.sum() == 0 {
			break
		}
	}
	if best.sum() > 0 {
		return fails("of %d, %d early, %d late, %d never ran, %d ran twice",
			n, best.early, best.late, best.never, best.more)
	}
	return keeps("%d timers, each at its new time", n)
}

// run runs all courses at once.
func (s *subject) run(cs []course) misses {
	t := s.open(len(cs))
	defer t.Close()
	resetter := t.(contender.Resetter)
	ran := make([]atomic.Int32, len(cs))
	at := make([]atomic.Int64, len(cs)) // times since start
	start := time.Now()
	for i, c := range cs {
		_ = t.Set(i, s.units(float64(c.set)), func() {
			at[i].Store(int64(time.Since(start)))
			ran[i].Add(1)
		})
	}
	due := make([]time.Duration, len(cs)) // times since start
	s.step = "resetting a timer"
	for _, i := range byElapsed(cs) {
		time.Sleep(time.Until(start.Add(s.units(float64(cs[i].elapsed) + 0.5))))
		if ran[i].Load() > 0 {
			continue // the timer has run before its reset: the machine was too busy
		}
		due[i] = time.Since(start) + s.units(cs[i].reset)
		if !resetter.Reset(i, s.units(cs[i].reset)) {
			due[i] = 0 // the timer fired before it was reset
		}
	}
	s.await(2*slots, func() bool { return int(total(ran)) == len(cs) })
	time.Sleep(s.units(2 * slots))
	return s.judge(due, ran, at)
}

// judge compares the deadlines of the timers with the times and numbers of their runs. A deadline of 0 is ignored.
func (s *subject) judge(due []time.Duration, ran []atomic.Int32, at []atomic.Int64) (m misses) {
	for i := range due {
		off := time.Duration(at[i].Load()) - due[i]
		switch runs := ran[i].Load(); {
		case due[i] == 0:
		case runs == 0:
			m.never++
		case runs > 1:
			m.more++
		case off < -s.units(1):
			m.early++
		case off > s.units(slots/2)+20*time.Millisecond:
			m.late++
		}
	}
	return m
}

// byElapsed returns the indices of the courses in the order in which they are reset.
func byElapsed(cs []course) []int {
	order := make([]int, len(cs))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(cs[a].elapsed, cs[b].elapsed) })
	return order
}

// drains removes all timers, and sets the same numbers again.
func (s *subject) drains() outcome {
	const n = 20
	t := s.open(n)
	drainer, ok := t.(contender.Drainer)
	if !ok {
		return lacks("there is no Drain")
	}
	var old, drained atomic.Int64
	for i := range n {
		_ = t.Set(i, s.units(5), func() { old.Add(1) })
	}
	time.Sleep(s.units(1.5))
	s.step = "draining"
	drainer.Drain(func(func()) { drained.Add(1) })
	s.await(1, func() bool { return drained.Load() == n })
	ran := make([]atomic.Int32, n)
	s.step = "setting what was drained"
	for i := range n {
		_ = t.Set(i, s.units(8), func() { ran[i].Add(1) })
	}
	s.await(8, func() bool { return total(ran) == n })
	if total(ran) != n || old.Load() > 0 || drained.Load() != n {
		return fails("of %d, %d were drained, %d ran anyway, %d ran when set again",
			n, drained.Load(), old.Load(), total(ran))
	}
	return keeps("%d drained, and run when set again", n)
}
