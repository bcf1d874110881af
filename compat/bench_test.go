package compat_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/compat"
)

// Benchmarks are named impl=…/n=…, where n is the number of keys that are pending or
// cached meanwhile. by=2 means two goroutines, each with its own keys.

// spread is a random delay of an hour or two: nothing fires while a benchmark runs.
func spread() time.Duration { return time.Hour + rand.N(time.Hour) }

// anyKeys returns n keys that are already converted to any, which allocates.
func anyKeys(from, n int) []any {
	keys := make([]any, n)
	for i := range keys {
		keys[i] = from + i
	}
	return keys
}

// prepared is how many keys and delays are prepared for each goroutine, which uses them
// again and again. Making them in the loop would cost more than using them. It is a power
// of two.
const prepared = 1 << 12

// byGoroutines runs f for b.N values of i, divided among that many goroutines.
func byGoroutines(b *testing.B, by int, f func(g, i int)) {
	b.ReportAllocs()
	b.ResetTimer()
	var wg sync.WaitGroup
	for g := range by {
		wg.Go(func() {
			for i := g; i < b.N; i += by {
				f(g, i/by%prepared)
			}
		})
	}
	wg.Wait()
}

// BenchmarkTimingWheel sets a timer, moves it and removes it.
func BenchmarkTimingWheel(b *testing.B) {
	const n = 300_000
	for by := 1; by <= 2; by++ {
		b.Run(fmt.Sprintf("impl=epicycle/n=%d/by=%d", n, by), func(b *testing.B) {
			w, err := compat.NewTimingWheel(time.Second, 300, func(any, any) {})
			if err != nil {
				b.Fatal(err)
			}
			defer w.Stop()
			for _, key := range anyKeys(0, n) {
				_ = w.SetTimer(key, nil, spread())
			}
			keys, delays := anyKeys(n, by*prepared), make([]time.Duration, prepared)
			for i := range delays {
				delays[i] = spread()
			}
			runtime.GC()
			byGoroutines(b, by, func(g, i int) {
				key := keys[g*prepared+i]
				_ = w.SetTimer(key, nil, delays[i])
				_ = w.MoveTimer(key, delays[prepared-1-i])
				_ = w.RemoveTimer(key)
			})
		})
	}
}

// BenchmarkTicker is BenchmarkTimingWheel on a wheel with a ticker, where each call waits
// for the goroutine that counts ticks.
func BenchmarkTicker(b *testing.B) {
	const n = 10_000
	b.Run(fmt.Sprintf("impl=epicycle/n=%d/by=1", n), func(b *testing.B) {
		w := newTickerWheel(b, 300, func(any, any) {}, newFakeTicker())
		for _, key := range anyKeys(0, n) {
			_ = w.SetTimer(key, nil, spread())
		}
		keys := anyKeys(n, prepared)
		byGoroutines(b, 1, func(_, i int) {
			_ = w.SetTimer(keys[i], nil, time.Hour)
			_ = w.MoveTimer(keys[i], 2*time.Hour)
			_ = w.RemoveTimer(keys[i])
		})
	})
}

// BenchmarkCache sets one value and gets another.
func BenchmarkCache(b *testing.B) {
	const n = 100_000
	for _, limit := range []int{0, n} {
		for by := 1; by <= 2; by++ {
			b.Run(fmt.Sprintf("impl=epicycle/n=%d/limit=%d/by=%d", n, limit, by), func(b *testing.B) {
				c, err := compat.NewCache(time.Hour, compat.WithLimit(limit))
				if err != nil {
					b.Fatal(err)
				}
				defer c.Close()
				keys := make([]string, n)
				for i := range keys {
					keys[i] = fmt.Sprintf("key:%d", i)
					c.Set(keys[i], i)
				}
				rand.Shuffle(n, func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
				runtime.GC()
				byGoroutines(b, by, func(g, i int) {
					c.Set(keys[(g*prepared+i)%n], nil)
					c.Get(keys[n-1-i])
				})
			})
		}
	}
}
