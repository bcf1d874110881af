package durable_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// benchOpen opens timers in a directory of its own.
func benchOpen(b *testing.B, handle func(context.Context, firing) error) *strs {
	if handle == nil {
		handle = func(context.Context, firing) error { return nil }
	}
	w, err := durable.Open(b.Context(), durable.Config[string, string]{Dir: b.TempDir(), Handle: handle})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { w.Close() })
	return w
}

var value100 = strings.Repeat("v", 100)

// report reports the median and the 99th percentile of some durations.
func report(b *testing.B, what string, all []time.Duration) {
	slices.Sort(all)
	if n := len(all); n > 0 {
		b.ReportMetric(float64(all[n/2].Nanoseconds())/1e6, what+"p50-ms")
		b.ReportMetric(float64(all[n*99/100].Nanoseconds())/1e6, what+"p99-ms")
	}
}

// BenchmarkSet sets timers with values of 100 bytes, each answered when it is on the disk.
func BenchmarkSet(b *testing.B) {
	for _, callers := range []int{1, 16, 256} {
		b.Run(fmt.Sprintf("impl=durable/n=%d", callers), func(b *testing.B) {
			w := benchOpen(b, nil)
			begun := time.Now()
			took := benchSet(b, callers, func(int) *strs { return w })
			b.ReportMetric(float64(b.N)/time.Since(begun).Seconds(), "sets/s")
			report(b, "", took)
		})
	}
}

// benchSet has callers set b.N timers, each by the timers that by says, and returns how long each call took.
func benchSet(b *testing.B, callers int, by func(caller int) *strs) []time.Duration {
	var next atomic.Int64
	took := make([][]time.Duration, callers)
	var wg sync.WaitGroup
	b.ResetTimer()
	for c := range callers {
		wg.Go(func() {
			for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
				t := time.Now()
				if _, err := by(c).Set(b.Context(), fmt.Sprint("key", i), value100, time.Hour); err != nil {
					b.Error(err)
					return
				}
				took[c] = append(took[c], time.Since(t))
			}
		})
	}
	wg.Wait()
	return slices.Concat(took...)
}

// BenchmarkBatch sets n timers by each Batch.
func BenchmarkBatch(b *testing.B) {
	const n = 1000
	b.Run(fmt.Sprintf("impl=durable/n=%d", n), func(b *testing.B) {
		w := benchOpen(b, nil)
		var batch durable.Batch[string, string]
		begun := time.Now()
		for i := range b.N {
			batch.Reset()
			for j := range n {
				batch.Set(fmt.Sprint("key", i*n+j), value100, time.Hour)
			}
			if err := w.Batch(b.Context(), &batch); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.N*n)/time.Since(begun).Seconds(), "ops/s")
	})
}

// BenchmarkFire has n timers fall due within each second, and their ends logged.
func BenchmarkFire(b *testing.B) {
	const n = 20_000
	b.Run(fmt.Sprintf("impl=durable/n=%d", n), func(b *testing.B) {
		var mu sync.Mutex
		var late []time.Duration
		done := make(chan bool)
		total := b.N * n
		w := benchOpen(b, func(_ context.Context, f firing) error {
			l := time.Since(f.Due)
			mu.Lock()
			if late = append(late, l); len(late) == total {
				close(done)
			}
			mu.Unlock()
			return nil
		})
		start := time.Now().Add(time.Second * time.Duration(1+b.N))
		var batch durable.Batch[string, string]
		for i := range total {
			batch.SetAt(fmt.Sprint("key", i), value100, start.Add(time.Duration(i)*time.Second/n))
			if batch.Len() == 1000 {
				if err := w.Batch(b.Context(), &batch); err != nil {
					b.Fatal(err)
				}
				batch.Reset()
			}
		}
		b.ResetTimer()
		<-done
		report(b, "late-", late)
	})
}

// BenchmarkRecover opens a directory with n timers. The largest needs some gigabytes and a minute.
func BenchmarkRecover(b *testing.B) {
	for _, n := range []int{100_000, 200_000, 1_000_000, 10_000_000} {
		b.Run(fmt.Sprintf("impl=durable/n=%d", n), func(b *testing.B) {
			if testing.Short() && n > 1_000_000 {
				b.Skip("it takes a minute")
			}
			cfg := durable.Config[string, string]{Dir: b.TempDir(), Handle: func(context.Context, firing) error { return nil }}
			w, err := durable.Open(b.Context(), cfg)
			if err != nil {
				b.Fatal(err)
			}
			var batch durable.Batch[string, string]
			for i := range n {
				batch.Set(fmt.Sprint("key", i), value100, time.Hour)
				if batch.Len() == 2000 || i == n-1 {
					if err := w.Batch(b.Context(), &batch); err != nil {
						b.Fatal(err)
					}
					batch.Reset()
				}
			}
			w.Close()
			w = nil
			before := heap()
			b.ResetTimer()
			for range b.N {
				if w, err = durable.Open(b.Context(), cfg); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				b.ReportMetric(float64(heap()-before)/float64(n), "B/timer")
				b.ReportMetric(float64(w.Stats().LogBytes)/float64(n), "log-B/timer")
				w.Close()
				b.StartTimer()
			}
		})
	}
}

// heap is the memory that is in use.
func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
