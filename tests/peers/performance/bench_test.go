package main

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/tests/peers/contender"
)

// The benchmarks here are those that package hierarchy does not have: it compares only with
// package time. They are named as there, impl=…/n=…, where n is the number of timers
// pending. Each should run in a process of its own, as the command runs it, because timers
// of package time are left pending at the end.

func nop() {}

// spread returns a delay of one to two hours: nothing fires while a benchmark runs.
func spread() time.Duration { return time.Hour + rand.N(time.Hour) }

// someDelays are delays that are made beforehand and used in turn.
type someDelays [4096]time.Duration

func newDelays(delay func() time.Duration) *someDelays {
	s := new(someDelays)
	for i := range s {
		s[i] = delay()
	}
	return s
}

func (s *someDelays) at(i int) time.Duration { return s[i%len(s)] }

func sub(b *testing.B, impl string, n int, f func(b *testing.B)) {
	b.Run(fmt.Sprintf("impl=%s/n=%d", impl, n), f)
}

// each runs f for each n and each contender that can be measured with n timers.
func each(b *testing.B, ns []int, f func(b *testing.B, c contender.Contender, n int)) {
	for _, n := range ns {
		for _, c := range contender.All {
			if c.Takes(n) {
				sub(b, c.Name, n, func(b *testing.B) { f(b, c, n) })
			}
		}
	}
}

func open(tb testing.TB, c contender.Contender, cfg contender.Config) contender.Timers {
	t, err := c.Open(cfg)
	require.NoError(tb, err)
	tb.Cleanup(t.Close)
	return t
}

// preload sets the timers from first up to, but not including, end. All have the same
// callback, so that no closures are measured.
func preload(t contender.Timers, first, end int) {
	for i := first; i < end; i++ {
		_ = t.Set(i, spread(), nop)
	}
	runtime.GC()
}

// own is the number of timers that BenchmarkSetStop sets and stops in turn, besides the
// pending ones.
const own = 1024

// BenchmarkSetStop sets a timer and stops it, anywhere among n that are pending.
func BenchmarkSetStop(b *testing.B) {
	ns := []int{0, 1, 1000, 10_000, 100_000, 1_000_000, 10_000_000}
	each(b, ns, func(b *testing.B, c contender.Contender, n int) {
		t := open(b, c, contender.Config{Timers: own + n, Kept: own})
		preload(t, own, own+n)
		delays := newDelays(spread)
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			_ = t.Set(i%own, delays.at(i), nop)
			t.Stop(i % own)
		}
	})
}

// BenchmarkMove resets a random one of n timers to any time.
func BenchmarkMove(b *testing.B) {
	each(b, []int{1000, 100_000, 1_000_000}, func(b *testing.B, c contender.Contender, n int) {
		t := open(b, c, contender.Config{Timers: n, Kept: n})
		resetter, ok := c.Resetter(t)
		if !ok {
			b.Skip("its timers can't be reset, or not safely")
		}
		preload(t, 0, n)
		delays := newDelays(spread)
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			resetter.Reset(rand.IntN(n), delays.at(i))
		}
	})
}

// BenchmarkMemory measures the memory of a pending timer. Handles and boxed keys, which the
// caller may keep or not, are not counted.
func BenchmarkMemory(b *testing.B) {
	each(b, []int{10_000, 100_000, 1_000_000}, func(b *testing.B, c contender.Contender, n int) {
		for b.Loop() {
			t := open(b, c, contender.Config{Timers: n})
			before := inUse()
			for i := range n {
				_ = t.Set(i, spread(), nop)
			}
			b.ReportMetric((inUse()-before)/float64(n), "B/timer")
			runtime.KeepAlive(t)
		}
		b.ReportMetric(0, "ns/op")
	})
}

// inUse returns the live bytes. Garbage held by finalizers or pools is gone after the second
// collection.
func inUse() float64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}
