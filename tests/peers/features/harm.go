package main

import (
	"runtime"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/tests/peers/contender"
)

// panics makes one callback among others panic.
func (s *subject) panics() outcome {
	return s.survives(func() { panic("in a callback") }, "ran beside one that panics")
}

// goexits makes one callback among others end its goroutine.
func (s *subject) goexits() outcome {
	return s.survives(runtime.Goexit, "ran beside one that ends its goroutine")
}

// survives checks that timers due together with a harmful one run, and that the timers of a second crowd run, too.
func (s *subject) survives(harm func(), evidence string) outcome {
	const n = 20
	t := s.open(2*n + 2)
	var ran atomic.Int64
	s.step = "waiting for those beside a harmful callback"
	for crowd := range 2 {
		for i := range n + 1 {
			f := func() { ran.Add(1) }
			if i == n/2 {
				f = harm
			}
			_ = t.Set(crowd*(n+1)+i, s.units(2), f)
		}
		s.await(2, func() bool { return ran.Load() >= int64(n*(crowd+1)) })
	}
	if ran.Load() < 2*n {
		return fails("%d of %d others ran", ran.Load(), 2*n)
	}
	return keeps("%d of %d others %s", ran.Load(), 2*n, evidence)
}

// callsInside sets, resets and stops other timers in callbacks.
func (s *subject) callsInside() outcome {
	const n = 20
	t := s.open(4 * n)
	resetter, _ := s.Resetter(t)
	var ran atomic.Int64
	s.step = "making a call inside a callback"
	for i := range n {
		_ = t.Set(n+i, time.Hour, func() {})
		_ = t.Set(2*n+i, time.Hour, func() {})
		_ = t.Set(i, s.units(2), func() {
			t.Stop(n + i)
			if resetter != nil {
				resetter.Reset(2*n+i, 2*time.Hour)
			}
			_ = t.Set(3*n+i, s.units(2), func() { ran.Add(1) })
		})
	}
	if !s.await(4, func() bool { return ran.Load() >= n }) {
		return fails("%d of %d completed", ran.Load(), n)
	}
	return keeps("%d callbacks did", n)
}

// unhashable sets a timer for a key that is a slice.
func (s *subject) unhashable() outcome {
	t := s.open(1)
	setter, ok := t.(contender.KeySetter)
	if !ok {
		return lacks("it has no keys of arbitrary type")
	}
	s.step = "setting a key that is a slice"
	err := setter.SetKey([]int{1}, time.Hour, func() {})
	time.Sleep(100 * time.Millisecond) // another goroutine may panic because of the key
	if err == nil {
		return fails("accepted")
	}
	return keeps("%q", err)
}

// closesTwice closes the contender twice, from one goroutine.
func (s *subject) closesTwice() outcome {
	if !s.Closes {
		return lacks("there is nothing to close")
	}
	t := s.open(1)
	s.step = "closing it"
	t.Close()
	s.step = "closing it again"
	t.Close()
	return keeps("the second call does nothing")
}

// setsWhenClosed checks that no timer runs after closing, neither one that was pending nor one that is set later.
func (s *subject) setsWhenClosed() outcome {
	if !s.Closes {
		return lacks("there is nothing to close")
	}
	const n = 20
	t := s.open(n + 1)
	var ran atomic.Int64
	for i := range n {
		_ = t.Set(i, s.units(2), func() { ran.Add(1) })
	}
	s.step = "closing it"
	t.Close()
	s.step = "setting a timer when it is closed"
	err := t.Set(n, s.units(1), func() { ran.Add(1) })
	time.Sleep(s.units(4) + 100*time.Millisecond)
	if ran.Load() > 0 {
		return fails("%d of %d ran", ran.Load(), n+1)
	}
	if err == nil {
		return keeps("nothing runs; the call returns no error")
	}
	return keeps("nothing runs; %q", err)
}

// frees counts the stopped callbacks that are still held. A tenth is allowed: a library may
// put off freeing them, within limits.
func (s *subject) frees() outcome {
	const others, n = 1000, 10_000
	t := s.open(others + 1)
	s.step = "stopping timers"
	for i := range others {
		_ = t.Set(1+i, time.Hour, func() {})
	}
	var freed atomic.Int64
	for range n {
		held := new([256]byte)
		runtime.AddCleanup(held, func(int) { freed.Add(1) }, 0)
		_ = t.Set(0, time.Hour, func() { held[0]++ })
		t.Stop(0)
	}
	for last := int64(-1); freed.Load() != last && freed.Load() < n; {
		last = freed.Load()
		runtime.GC()
		runtime.GC()
		time.Sleep(20 * time.Millisecond)
	}
	left := max(0, n-1-freed.Load()) // the handle of the last timer is kept
	runtime.KeepAlive(t)
	if left > n/10 {
		return fails("%d of %d stopped callbacks are still held", left, n)
	}
	return keeps("%d of %d stopped callbacks are still held", left, n)
}
