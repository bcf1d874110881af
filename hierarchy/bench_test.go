package hierarchy_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

func nop() {}

func newWheel(tb testing.TB, cfg hierarchy.Config) *hierarchy.Wheel {
	w, err := hierarchy.New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(w.Stop)
	return w
}

// spread is a delay of an hour or two: nothing fires while a benchmark runs.
func spread() time.Duration { return time.Hour + time.Duration(rand.Int64N(int64(time.Hour))) }

// preload sets n timers.
func preload(b *testing.B, n int, set func(d time.Duration) (stop func())) {
	b.Helper()
	stops := make([]func(), 0, n)
	for range n {
		stops = append(stops, set(spread()))
	}
	runtime.GC()
	b.Cleanup(func() {
		for _, stop := range stops {
			stop()
		}
	})
}

var pending = []int{0, 10_000, 1_000_000, 10_000_000}

// BenchmarkSetStop sets a timer and stops it, n others pending. impl=floor is
// what no wheel with a lock can beat: a reading of the clock and two
// uncontended lock and unlock pairs.
func BenchmarkSetStop(b *testing.B) {
	for _, n := range pending {
		b.Run(fmt.Sprintf("impl=epicycle/n=%d", n), func(b *testing.B) {
			w := newWheel(b, hierarchy.Config{})
			for range n {
				_, _ = w.AfterFunc(spread(), nop)
			}
			runtime.GC()
			b.ReportAllocs()
			for b.Loop() {
				t, _ := w.AfterFunc(time.Hour, nop)
				t.Stop()
			}
		})
		b.Run(fmt.Sprintf("impl=time/n=%d", n), func(b *testing.B) {
			preload(b, n, func(d time.Duration) func() { t := time.AfterFunc(d, nop); return func() { t.Stop() } })
			b.ReportAllocs()
			for b.Loop() {
				time.AfterFunc(time.Hour, nop).Stop()
			}
		})
	}
	b.Run("impl=floor/n=0", func(b *testing.B) {
		c := clock.System()
		var mu sync.Mutex
		for b.Loop() {
			c.Elapsed()
			mu.Lock()
			mu.Unlock() //nolint:staticcheck // empty on purpose
			mu.Lock()
			mu.Unlock() //nolint:staticcheck // empty on purpose
		}
	})
}

// BenchmarkSetStopParallel is BenchmarkSetStop by so many goroutines at once,
// in nanoseconds an operation over all of them: half is twice the throughput.
func BenchmarkSetStopParallel(b *testing.B) {
	for _, procs := range []int{1, 2} {
		b.Run(fmt.Sprintf("impl=epicycle/goroutines=%d/n=1000000", procs), func(b *testing.B) {
			w := newWheel(b, hierarchy.Config{})
			for range 1_000_000 {
				_, _ = w.AfterFunc(spread(), nop)
			}
			inParallel(b, procs, func(int) {
				t, _ := w.AfterFunc(time.Hour, nop)
				t.Stop()
			})
		})
	}
}

// inParallel shares b.N calls of f among goroutines.
func inParallel(b *testing.B, goroutines int, f func(i int)) {
	runtime.GC()
	b.ReportAllocs()
	b.ResetTimer()
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			for i := g; i < b.N; i += goroutines {
				f(i)
			}
		})
	}
	wg.Wait()
}
