package main

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/tests/peers/contender"
)

// shortLived is a delay that ends while a benchmark runs.
func shortLived() time.Duration { return time.Millisecond + rand.N(50*time.Millisecond) }

// BenchmarkChurn is a service's mixture: beside n pending timers, half of the
// operations put one off, by Reset or, where there is none that is safe, by stopping it and
// setting it anew; a quarter set a timer and stop it; a quarter set one that soon
// fires.
func BenchmarkChurn(b *testing.B) {
	each(b, []int{1000, 100_000, 1_000_000}, func(b *testing.B, c contender.Contender, n int) {
		const fleeting = 1 << 16 // numbers of those that fire: each has, when its turn comes again
		t := open(b, c, contender.Config{Timers: n + 1 + fleeting, Kept: n + 1})
		preload(t, 0, n)
		putOff := putOffBy(c, t)
		far, near := newDelays(spread), newDelays(shortLived)
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			switch i % 4 {
			case 0, 1:
				putOff(rand.IntN(n), far.at(i))
			case 2:
				_ = t.Set(n, far.at(i), nop)
				t.Stop(n)
			case 3:
				_ = t.Set(n+1+(i/4)%fleeting, near.at(i), nop)
			}
		}
	})
}

func putOffBy(c contender.Contender, t contender.Timers) func(i int, d time.Duration) {
	if r, ok := c.Resetter(t); ok {
		return func(i int, d time.Duration) { r.Reset(i, d) }
	}
	return func(i int, d time.Duration) {
		t.Stop(i)
		_ = t.Set(i, d, nop)
	}
}
