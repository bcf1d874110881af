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

// Benchmarks are named impl=…/n=…, where n is the number of timers that are pending.
// impl=time is package time. impl=floor is the least that a wheel with locks can cost.
// Take ratios between medians of one run:
//
//	go test ./hierarchy -run '^$' -bench SetStop -count 10 | benchstat -col /impl -

func nop() {}

func newWheel(tb testing.TB, cfg hierarchy.Config) *hierarchy.Wheel {
	tb.Helper()
	w, err := hierarchy.New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(w.Stop)
	return w
}

// spread returns a delay of one to two hours, so that nothing fires while a benchmark runs.
func spread() time.Duration { return time.Hour + time.Duration(rand.Int64N(int64(time.Hour))) }

// loaded returns a wheel with n timers pending.
func loaded(b *testing.B, n int) (*hierarchy.Wheel, []hierarchy.Timer) {
	w := newWheel(b, hierarchy.Config{})
	timers := make([]hierarchy.Timer, n)
	for i := range timers {
		timers[i], _ = w.AfterFunc(spread(), nop)
	}
	runtime.GC()
	return w, timers
}

// loadedTime returns n pending timers of package time.
func loadedTime(b *testing.B, n int) []*time.Timer {
	timers := make([]*time.Timer, n)
	for i := range timers {
		timers[i] = time.AfterFunc(spread(), nop)
	}
	b.Cleanup(func() {
		for _, t := range timers {
			t.Stop()
		}
	})
	runtime.GC()
	return timers
}

// heap returns the size of the live heap in bytes.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func run(b *testing.B, impl string, n int, f func(b *testing.B)) {
	b.Run(fmt.Sprintf("impl=%s/n=%d", impl, n), func(b *testing.B) {
		b.ReportAllocs()
		f(b)
	})
}

// BenchmarkSetStop sets a timer and stops it. With to=any its deadline is anywhere among
// those of the others, with to=first before all of them.
func BenchmarkSetStop(b *testing.B) {
	for _, n := range []int{0, 10_000, 1_000_000, 10_000_000} {
		for name, delay := range map[string]func() time.Duration{"any": someOf(spread), "first": someOf(anHour)} {
			run(b, "epicycle/to="+name, n, func(b *testing.B) {
				w, _ := loaded(b, n)
				for b.Loop() {
					t, _ := w.AfterFunc(delay(), nop)
					t.Stop()
				}
			})
			run(b, "time/to="+name, n, func(b *testing.B) {
				loadedTime(b, n)
				for b.Loop() {
					time.AfterFunc(delay(), nop).Stop()
				}
			})
		}
	}
	run(b, "floor", 0, func(b *testing.B) { floor(b, someOf(anHour)) })
}

func anHour() time.Duration { return time.Hour }

// someOf returns a function that returns precomputed results of f in turn.
func someOf(f func() time.Duration) func() time.Duration {
	var some [4096]time.Duration
	for i := range some {
		some[i] = f()
	}
	i := 0
	return func() time.Duration { i++; return some[i%len(some)] }
}

// floor measures a reading of the clock and two pairs of Lock and Unlock, in the same loop
// as the calls of a wheel.
func floor(b *testing.B, delay func() time.Duration) {
	c := clock.System()
	var mu sync.Mutex
	pairs := 0
	for b.Loop() {
		_ = c.Elapsed() + delay()
		mu.Lock()
		pairs++
		mu.Unlock()
		mu.Lock()
		pairs++
		mu.Unlock()
	}
}

// BenchmarkReset resets a random timer to any deadline or, as keep-alives do, always to
// the same delay.
func BenchmarkReset(b *testing.B) {
	const n = 1_000_000
	for _, to := range []struct {
		name  string
		delay func() time.Duration
	}{{"any", spread}, {"keepalive", func() time.Duration { return 3 * time.Hour }}} {
		delay := to.delay
		run(b, "epicycle/to="+to.name, n, func(b *testing.B) {
			_, timers := loaded(b, n)
			for b.Loop() {
				timers[rand.IntN(n)].Reset(delay())
			}
		})
		run(b, "time/to="+to.name, n, func(b *testing.B) {
			timers := loadedTime(b, n)
			for b.Loop() {
				timers[rand.IntN(n)].Reset(delay())
			}
		})
	}
}

// BenchmarkKeyed sets, moves and removes one key among a million. impl=map+wheel is the
// least that the same costs by hand: it inserts the key into a Go map of a million keys,
// looks it up and deletes it, and sets and stops a timer.
func BenchmarkKeyed(b *testing.B) {
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
		for k := n; b.Loop(); k++ {
			_ = w.Set(k, k, time.Hour)
			_, _ = w.Move(k, 2*time.Hour)
			w.Remove(k)
		}
	})
	run(b, "map+wheel", n, func(b *testing.B) {
		w, _ := loaded(b, n)
		m := make(map[int]uint32)
		for k := range n {
			m[k] = uint32(k)
		}
		runtime.GC()
		for k := n; b.Loop(); k++ {
			m[k] = uint32(k)
			_ = m[k]
			delete(m, k)
			t, _ := w.AfterFunc(time.Hour, nop)
			t.Stop()
		}
	})
}

// BenchmarkSetStopParallel reports nanoseconds per operation over all goroutines together,
// so half the time is twice the throughput.
func BenchmarkSetStopParallel(b *testing.B) {
	for _, goroutines := range []int{1, 2, 4, 16} {
		run(b, fmt.Sprintf("epicycle/goroutines=%d", goroutines), 1_000_000, func(b *testing.B) {
			w, _ := loaded(b, 1_000_000)
			b.ResetTimer()
			var wg sync.WaitGroup
			for g := range goroutines {
				wg.Go(func() {
					for i := g; i < b.N; i += goroutines {
						t, _ := w.AfterFunc(time.Hour, nop)
						t.Stop()
					}
				})
			}
			wg.Wait()
		})
	}
}

// BenchmarkGC measures a full garbage collection with a million timers pending.
func BenchmarkGC(b *testing.B) {
	const n = 1_000_000
	run(b, "epicycle", n, func(b *testing.B) {
		w, timers := loaded(b, n)
		clear(timers) // don't measure the handles, which belong to the caller
		for b.Loop() {
			runtime.GC()
		}
		runtime.KeepAlive(w)
	})
	run(b, "time", n, func(b *testing.B) {
		loadedTime(b, n)
		for b.Loop() {
			runtime.GC()
		}
	})
	run(b, "empty", 0, func(b *testing.B) {
		for b.Loop() {
			runtime.GC()
		}
	})
}

// BenchmarkMockYear fires a million timers, spread over a year of mock time.
func BenchmarkMockYear(b *testing.B) {
	const n = 1_000_000
	run(b, "epicycle", n, func(b *testing.B) {
		for b.Loop() {
			m := clock.NewMock()
			w, _ := hierarchy.New(hierarchy.Config{Clock: m})
			for range n {
				_, _ = w.AfterFunc(time.Duration(rand.Int64N(int64(365*24*time.Hour))), nop)
			}
			m.Add(365 * 24 * time.Hour)
			w.Stop()
		}
	})
}
