package durable_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// BenchmarkSLA has callers set timers of an hour and remove 99 of 100 of them at once, as those of tickets that are answered
// in time. Both calls are answered when they are on the disk. The timers that are left are n or more.
func BenchmarkSLA(b *testing.B) {
	const callers, left = 256, 100_000
	b.Run(fmt.Sprintf("impl=durable/n=%d", left), func(b *testing.B) {
		w := benchOpen(b, nil)
		slaTimers(b, w, callers, left, 1)
		begun := time.Now()
		b.ResetTimer()
		took := slaTimers(b, w, callers, b.N, 100)
		b.ReportMetric(float64(b.N)/time.Since(begun).Seconds(), "timers/s")
		report(b, "", took)
	})
}

// slaTimers has callers set n timers, and remove all but one in keep. It returns how long each pair of calls took.
func slaTimers(b *testing.B, w *strs, callers, n, keep int) []time.Duration {
	var next atomic.Int64
	var mu sync.Mutex
	var all []time.Duration
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			var took []time.Duration
			for i := next.Add(1); i <= int64(n); i = next.Add(1) {
				key, begun := fmt.Sprint(keep, " ", i), time.Now()
				_, err := w.Set(b.Context(), key, value100, time.Hour)
				if err == nil && i%int64(keep) != 0 {
					_, _, err = w.Remove(b.Context(), key)
				}
				if err != nil {
					b.Error(err)
					return
				}
				took = append(took, time.Since(begun))
			}
			mu.Lock()
			all = append(all, took...)
			mu.Unlock()
		})
	}
	wg.Wait()
	return all
}
