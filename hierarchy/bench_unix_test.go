//go:build unix

package hierarchy_test

import (
	"context"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// cpu returns the processor time that this process has used.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkSleeping measures the processor time that a sleeping wheel uses in three
// seconds, with a million timers that are due in an hour.
func BenchmarkSleeping(b *testing.B) {
	run(b, "epicycle", 1_000_000, func(b *testing.B) {
		loaded(b, 1_000_000)
		for b.Loop() {
			before := cpu(b)
			time.Sleep(3 * time.Second)
			b.ReportMetric(float64((cpu(b) - before).Microseconds()), "cpu-µs/3s")
		}
	})
}

// BenchmarkSleepers has n goroutines that sleep for 10 ms over and over. cpu-ns/sleep is the
// processor time that a sleep takes.
func BenchmarkSleepers(b *testing.B) {
	const rounds, span = 50, 10 * time.Millisecond
	sleepers := func(b *testing.B, n int, sleep func()) {
		for b.Loop() {
			before := cpu(b)
			var all sync.WaitGroup
			for range n {
				all.Go(func() {
					for range rounds {
						sleep()
					}
				})
			}
			all.Wait()
			b.ReportMetric(float64(cpu(b)-before)/float64(n*rounds), "cpu-ns/sleep")
		}
	}
	for _, n := range []int{1000, 10_000} {
		run(b, "epicycle", n, func(b *testing.B) {
			w, err := hierarchy.New(hierarchy.Config{})
			require.NoError(b, err)
			defer w.Stop()
			sleepers(b, n, func() { _ = w.Sleep(context.Background(), span) })
		})
		run(b, "time", n, func(b *testing.B) { sleepers(b, n, func() { time.Sleep(span) }) })
	}
}

// BenchmarkExpiry measures the processor time to set a million timers, spread over two
// seconds, and to fire them all.
func BenchmarkExpiry(b *testing.B) {
	const n = 1_000_000
	const span = 2 * time.Second
	delay := func(i int) time.Duration { return span + time.Duration(i)*7919%span }
	run(b, "epicycle", n, func(b *testing.B) {
		for b.Loop() {
			before := cpu(b)
			w, _ := hierarchy.New(hierarchy.Config{Clock: clock.System(), Executor: hierarchy.Inline})
			for i := range n {
				_, _ = w.AfterFunc(delay(i), nop)
			}
			for w.Len() > 0 {
				time.Sleep(100 * time.Millisecond)
			}
			b.ReportMetric(float64((cpu(b) - before).Milliseconds()), "cpu-ms/op")
			b.ReportMetric(float64(w.Stats().Lateness.Quantile(0.99).Microseconds()), "late-p99-µs")
			w.Stop()
		}
	})
	run(b, "time", n, func(b *testing.B) {
		for b.Loop() {
			before := cpu(b)
			for i := range n {
				time.AfterFunc(delay(i), nop)
			}
			time.Sleep(2*span + 100*time.Millisecond)
			b.ReportMetric(float64((cpu(b) - before).Milliseconds()), "cpu-ms/op")
		}
	})
}

// BenchmarkResetExpiry measures the processor time to reset a million timers, in random
// order, to deadlines within two seconds, and to fire them. It includes the expiry because
// package time defers work from Reset to expiry.
func BenchmarkResetExpiry(b *testing.B) {
	const n = 1_000_000
	const span = 2 * time.Second
	expire := func(b *testing.B, set func(f func()), reset func(i int, d time.Duration)) {
		var used time.Duration
		for b.Loop() {
			var left atomic.Int64
			left.Store(n)
			for range n {
				set(func() { left.Add(-1) })
			}
			order := rand.Perm(n)
			runtime.GC()
			before := cpu(b)
			for _, i := range order {
				reset(i, span+rand.N(span))
			}
			for left.Load() > 0 {
				time.Sleep(10 * time.Millisecond)
			}
			used += cpu(b) - before
		}
		b.ReportMetric(float64(used.Microseconds())/1000/float64(b.N), "cpu-ms/op")
		b.ReportMetric(0, "ns/op")
	}
	run(b, "epicycle", n, func(b *testing.B) {
		w := newWheel(b, hierarchy.Config{Executor: hierarchy.Inline})
		var timers []hierarchy.Timer
		expire(b, func(f func()) {
			t, _ := w.AfterFunc(spread(), f)
			timers = append(timers, t)
		}, func(i int, d time.Duration) { timers[len(timers)-n+i].Reset(d) })
	})
	run(b, "floor", n, func(b *testing.B) {
		w := &resetFloor{timers: make([]floorTimer, 0, n)}
		expire(b, func(f func()) {
			if len(w.timers) == n {
				w.timers, w.resets = w.timers[:0], 0
			}
			w.timers = append(w.timers, floorTimer{f: f})
		}, w.reset)
	})
	run(b, "time", n, func(b *testing.B) {
		var timers []*time.Timer
		expire(b, func(f func()) {
			timers = append(timers, time.AfterFunc(spread(), f))
		}, func(i int, d time.Duration) { timers[len(timers)-n+i].Reset(d) })
	})
}
