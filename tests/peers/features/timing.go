package main

import (
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/tests/peers/internal/figures"
)

// neverEarlyBelow sets timers of less than an interval, at any moment between two ticks.
func (s *subject) neverEarlyBelow() outcome {
	return s.neverEarly(func() time.Duration { return 1 + rand.N(s.interval()) })
}

// neverEarlyAbove sets timers of one to three intervals, at any moment between two ticks.
func (s *subject) neverEarlyAbove() outcome {
	return s.neverEarly(func() time.Duration { return s.interval() + 1 + rand.N(2*s.interval()) })
}

// neverEarly measures from a time before the timer is set, so a timer that seems early is early.
func (s *subject) neverEarly(delay func() time.Duration) outcome {
	const n = 60
	t := s.open(n)
	s.step = "setting timers"
	var ran atomic.Int64
	var most atomic.Int64 // the most nanoseconds by which a timer was early
	for i := range n {
		time.Sleep(rand.N(s.interval() / 10))
		d, start := delay(), time.Now()
		_ = t.Set(i, d, func() {
			raise(&most, int64(d-time.Since(start)))
			ran.Add(1)
		})
	}
	s.await(4, func() bool { return ran.Load() >= n })
	if early := most.Load(); early > 0 {
		return fails("up to %s early", figures.Duration(time.Duration(early)))
	}
	if ran.Load() != n {
		return fails("%d of %d ran", ran.Load(), n)
	}
	return keeps("%d of %d, none early", n, n)
}

// raise sets a to v, unless a is larger.
func raise(a *atomic.Int64, v int64) {
	for old := a.Load(); old < v && !a.CompareAndSwap(old, v); old = a.Load() {
	}
}

// submillisecond allows a timer to be a millisecond late. The machine may be busy, so the
// best of several tries counts.
func (s *subject) submillisecond() outcome {
	const tries, delay = 5, 300 * time.Microsecond
	each := 15
	if s.interval() >= time.Second {
		each = 3 // a few tries are enough
	}
	t := s.open(tries * each)
	s.step = "waiting for a timer"
	best, earliest := time.Hour, time.Hour
	for try := range tries {
		var late []time.Duration
		for i := range each {
			time.Sleep(rand.N(min(s.interval(), 20*time.Millisecond)))
			fired, start := make(chan time.Duration, 1), time.Now()
			_ = t.Set(try*each+i, delay, func() { fired <- time.Since(start) - delay })
			late = append(late, <-fired)
		}
		slices.Sort(late)
		best, earliest = min(best, figures.Quantile(late, 0.5)), min(earliest, late[0])
		if best >= time.Second/4 {
			break // further tries would not help
		}
	}
	switch {
	case earliest < 0:
		return fails("up to %s early: it fires nearly at once", figures.Duration(-earliest))
	case best > time.Millisecond:
		return fails("%s late", figures.Duration(best))
	default:
		return keeps("%s late", figures.Duration(best))
	}
}

// slowNeighbour runs a slow callback among others that are due at the same time.
func (s *subject) slowNeighbour() outcome {
	const tries, neighbours = 3, 20
	long := 300*time.Millisecond + s.units(2)
	bad, best := long-s.units(1)-50*time.Millisecond, time.Hour
	t := s.open(tries * (neighbours + 1))
	for try := 0; try < tries && best > bad; try++ {
		s.step = "waiting for those beside a slow callback"
		delay := s.units(3)
		var ran, latest atomic.Int64
		for i := range neighbours + 1 {
			start, f := time.Now(), func() { time.Sleep(long) }
			if i > 0 {
				f = func() {
					raise(&latest, int64(time.Since(start)-delay))
					ran.Add(1)
				}
			}
			_ = t.Set(try*(neighbours+1)+i, delay, f)
		}
		if !s.await(6, func() bool { return ran.Load() >= neighbours }) {
			return fails("%d of %d others ran", ran.Load(), neighbours)
		}
		best = min(best, time.Duration(latest.Load()))
	}
	if best > bad {
		return fails("others wait until it returns: %s late", figures.Duration(best))
	}
	return keeps("others run while it takes %s", figures.Duration(long))
}

const tenYears = 10 * 365 * 24 * time.Hour

// tenYears sets timers with a delay of ten years, and compares their cost with the cost of timers with an hour's delay.
func (s *subject) tenYears() outcome {
	const n = 2000
	t := s.open(1)
	ran := make(chan bool, 1)
	cost := func(d time.Duration) time.Duration {
		start := time.Now()
		for range n {
			if t.Set(0, d, func() { ran <- true }) != nil {
				return time.Hour
			}
			t.Stop(0)
		}
		return time.Since(start) / n
	}
	s.step = "setting a timer of ten years"
	far, near := time.Hour, time.Hour
	for range 9 {
		near, far = min(near, cost(time.Hour)), min(far, cost(tenYears))
	}
	_ = t.Set(0, tenYears, func() { ran <- true })
	select {
	case <-ran:
		return fails("it runs at once")
	case <-time.After(s.units(3) + 50*time.Millisecond):
	}
	t.Stop(0)
	if far > 2*near+time.Microsecond {
		return fails("%s to set and stop, an hour %s", figures.Duration(far), figures.Duration(near))
	}
	return keeps("%s to set and stop, an hour %s", figures.Duration(far), figures.Duration(near))
}
