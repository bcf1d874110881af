package main

import (
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/tests/peers/contender"
)

// exactlyOnce stops timers at about their deadlines.
func (s *subject) exactlyOnce() outcome {
	const n = 1000
	t := s.open(n)
	var ran [n]atomic.Int32
	var stopped [n]bool
	s.step = "stopping timers that are due"
	start, delays := time.Now(), [n]time.Duration{}
	for i := range n {
		delays[i] = s.units(2 + float64(i)/n)
		_ = t.Set(i, delays[i], func() { ran[i].Add(1) })
	}
	for i := 0; i < n; i += 2 {
		time.Sleep(time.Until(start.Add(delays[i] + rand.N(s.units(1)) - s.units(0.5))))
		stopped[i] = t.Stop(i)
	}
	s.await(2, func() bool { return total(ran[:]) >= n*3/4 })
	time.Sleep(s.units(2) + 100*time.Millisecond)
	never, more, both := 0, 0, 0
	for i := range n {
		switch runs := ran[i].Load(); {
		case runs > 1:
			more++
		case runs == 0 && i%2 == 1, runs == 0 && s.Tells && !stopped[i]:
			never++
		case runs == 1 && s.Tells && stopped[i]:
			both++
		}
	}
	if never+more+both > 0 {
		return fails("of %d, %d never ran, %d ran more than once, %d ran although Stop returned true", n, never, more, both)
	}
	return keeps("%d timers, every other one stopped when it was due", n)
}

func total(ran []atomic.Int32) (n int32) {
	for i := range ran {
		n += min(1, ran[i].Load())
	}
	return n
}

// stopped stops timers long before they are due.
func (s *subject) stopped() outcome {
	const n = 200
	t := s.open(n)
	var ran atomic.Int64
	s.step = "stopping timers"
	for i := range n {
		_ = t.Set(i, s.units(2), func() { ran.Add(1) })
		t.Stop(i)
	}
	time.Sleep(s.units(4) + 100*time.Millisecond)
	if ran.Load() > 0 {
		return fails("%d of %d ran", ran.Load(), n)
	}
	return keeps("none of %d ran", n)
}

// stopTells stops timers that are pending, stopped and fired, while others that must not be
// affected are pending.
func (s *subject) stopTells() outcome {
	if !s.Tells {
		return lacks("Stop does not report it")
	}
	const fired, others = 50, 50
	t := s.open(fired + others + 1)
	var ran, othersRan atomic.Int64
	s.step = "stopping timers that have fired"
	for i := range fired {
		_ = t.Set(i, s.units(1), func() { ran.Add(1) })
	}
	s.await(2, func() bool { return ran.Load() >= fired })
	for i := range others {
		_ = t.Set(fired+i, s.units(20), func() { othersRan.Add(1) })
	}
	wrong := 0
	for i := range fired {
		if t.Stop(i) {
			wrong++
		}
	}
	s.await(20, func() bool { return othersRan.Load() >= others })
	last := fired + others
	_ = t.Set(last, time.Hour, func() {})
	first, second := t.Stop(last), t.Stop(last)
	switch {
	case othersRan.Load() < others:
		return fails("stopping %d fired timers removed %d others", fired, others-othersRan.Load())
	case wrong > 0:
		return fails("true for %d of %d fired timers", wrong, fired)
	case !first || second:
		return fails("%v for a pending timer, then %v when stopped again", first, second)
	default:
		return keeps("true for a pending timer, false for a stopped or fired one")
	}
}

// counts compares Len with the number of pending timers.
func (s *subject) counts() outcome {
	const n = 100
	t := s.open(n)
	counter, ok := t.(contender.Counter)
	if !ok {
		return lacks("there is no Len")
	}
	s.step = "counting timers"
	var ran atomic.Int64
	for i := range n {
		_ = t.Set(i, s.units(20), func() { ran.Add(1) })
	}
	for i := range n / 4 {
		t.Stop(i)
	}
	pending := counter.Len()
	s.await(20, func() bool { return ran.Load() >= n*3/4 && counter.Len() == 0 })
	if left := counter.Len(); pending != n*3/4 || left != 0 {
		return fails("%d when %d were pending, %d when none were", pending, n*3/4, left)
	}
	return keeps("%d of %d after a quarter were stopped, 0 in the end", pending, n)
}
