package main

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/tests/peers/contender"
)

// shortLived returns a delay that ends while a benchmark runs.
func shortLived() time.Duration { return time.Millisecond + rand.N(50*time.Millisecond) }

// BenchmarkChurn is the mixture of a service, with n timers pending. Half of the operations
// put off a timer, by Reset or, where there is no safe Reset, by stopping it and setting it
// again. A quarter set a timer and stop it. A quarter set one that fires soon.
func BenchmarkChurn(b *testing.B) {
	each(b, []int{1000, 100_000, 1_000_000}, func(b *testing.B, c contender.Contender, n int) {
		const fleeting = 1 << 16 // timers that fire; each has fired before its number is used again
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
