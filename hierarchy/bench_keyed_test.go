package hierarchy_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
)

// BenchmarkKeyedShards makes one or two goroutines set, move and remove keys of their own,
// on different numbers of shards.
func BenchmarkKeyedShards(b *testing.B) {
	const n = 300_000
	for _, shards := range []int{2, 4, 8, 16} {
		for _, by := range []int{1, 2} {
			run(b, fmt.Sprintf("epicycle/shards=%d/by=%d", shards, by), n, func(b *testing.B) {
				w, err := hierarchy.NewKeyed(hierarchy.Config{Shards: shards}, func(int, int) {})
				if err != nil {
					b.Fatal(err)
				}
				defer w.Stop()
				for i := range n {
					_ = w.Set(-1-i, i, spread())
				}
				b.ResetTimer()
				var all sync.WaitGroup
				for g := range by {
					all.Go(func() {
						for i := range b.N / by {
							k := g*1000 + i%1000
							_ = w.Set(k, i, 2*time.Hour)
							_, _ = w.Move(k, 3*time.Hour)
							w.Remove(k)
						}
					})
				}
				all.Wait()
			})
		}
	}
}

// BenchmarkKeyedSet sets a random one of a million keys again, in four ways. SetIfAbsent finds
// that it must not, the others that they must.
func BenchmarkKeyedSet(b *testing.B) {
	const n = 1_000_000
	for _, how := range []string{"Set", "SetSooner", "SetLater", "SetIfAbsent"} {
		run(b, "epicycle/call="+how, n, func(b *testing.B) {
			w, err := hierarchy.NewKeyed(hierarchy.Config{}, func(int, int) {})
			if err != nil {
				b.Fatal(err)
			}
			defer w.Stop()
			for k := range n {
				_ = w.Set(k, k, 24*time.Hour)
			}
			runtime.GC()
			sooner, later := 24*time.Hour, 24*time.Hour
			for k := 0; b.Loop(); k = (k + 7919) % n {
				switch how {
				case "Set":
					_ = w.Set(k, k, 24*time.Hour)
				case "SetSooner":
					sooner -= time.Microsecond
					_, _ = w.SetSooner(k, k, sooner)
				case "SetLater":
					later += time.Microsecond
					_, _ = w.SetLater(k, k, later)
				case "SetIfAbsent":
					_, _ = w.SetIfAbsent(k, k, 24*time.Hour)
				}
			}
		})
	}
}

// BenchmarkKeyedAll goes over a million keys.
func BenchmarkKeyedAll(b *testing.B) {
	const n = 1_000_000
	run(b, "epicycle", n, func(b *testing.B) {
		w, err := hierarchy.NewKeyed(hierarchy.Config{}, func(int, int) {})
		if err != nil {
			b.Fatal(err)
		}
		defer w.Stop()
		for k := range n {
			_ = w.Set(k, k, spread())
		}
		runtime.GC()
		for b.Loop() {
			keys := 0
			for range w.All() {
				keys++
			}
			if keys != n {
				b.Fatal(keys)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/key")
	})
}

// BenchmarkKeyedBesideAll times each of many calls of Move while another goroutine goes over
// a million keys again and again, on one shard, where it keeps calls waiting the most. For
// comparison, the other goroutine only uses its processor, or gets keys.
func BenchmarkKeyedBesideAll(b *testing.B) {
	const n = 1_000_000
	for _, other := range []struct {
		name string
		work func(w *hierarchy.Keyed[int, int])
	}{
		{"busy", func(*hierarchy.Keyed[int, int]) {}},
		{"get", func(w *hierarchy.Keyed[int, int]) { w.Get(rand.IntN(n)) }},
		{"all", func(w *hierarchy.Keyed[int, int]) {
			for range w.All() {
			}
		}},
	} {
		run(b, "epicycle/beside="+other.name, n, func(b *testing.B) {
			w, err := hierarchy.NewKeyed(hierarchy.Config{Shards: 1}, func(int, int) {})
			if err != nil {
				b.Fatal(err)
			}
			defer w.Stop()
			for k := range n {
				_ = w.Set(k, k, spread())
			}
			took := make([]time.Duration, b.N)
			var done atomic.Bool
			var others sync.WaitGroup
			others.Go(func() {
				for !done.Load() {
					other.work(w)
				}
			})
			runtime.GC()
			b.ResetTimer()
			for i := range took {
				began := time.Now()
				_, _ = w.Move(i%n, spread())
				took[i] = time.Since(began)
			}
			b.StopTimer()
			done.Store(true)
			others.Wait()
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)*999/1000]), "p99.9-ns")
			b.ReportMetric(float64(took[len(took)*9999/10_000]), "p99.99-ns")
			b.ReportMetric(float64(took[len(took)-1]), "max-ns")
		})
	}
}
