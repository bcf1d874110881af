package durable_test

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// BenchmarkLone has one timer at a time in a process that does nothing else.
func BenchmarkLone(b *testing.B) {
	late := make(chan time.Duration)
	w := benchOpen(b, func(_ context.Context, f firing) error {
		late <- time.Since(f.Due)
		return nil
	})
	var all []time.Duration
	for range b.N {
		if _, err := w.Set(b.Context(), "key", value100, 20*time.Millisecond); err != nil {
			b.Fatal(err)
		}
		all = append(all, <-late)
	}
	report(b, "late-", all)
}

// fill sets timers from first on, in large batches.
func fill(b *testing.B, w *strs, first, n int) {
	var batch durable.Batch[string, string]
	for i := range n {
		batch.Set(fmt.Sprint("key", first+i), value100, time.Hour)
		if batch.Len() == 2000 || i == n-1 {
			if err := w.Batch(b.Context(), &batch); err != nil {
				b.Fatal(err)
			}
			batch.Reset()
		}
	}
}

// again has four callers set timers again, at random, until there were so many operations.
func again(b *testing.B, w *strs, n, ops int) {
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			var batch durable.Batch[string, string]
			for range ops / 4 / 2000 {
				batch.Reset()
				for range 2000 {
					batch.Set(fmt.Sprint("key", rand.N(n)), value100, time.Hour)
				}
				if err := w.Batch(b.Context(), &batch); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// BenchmarkDisk has n timers pending, and sets timers ten times as often, nine times of ten at
// random. It reports the bytes of all files, and those of keys and values.
func BenchmarkDisk(b *testing.B) {
	for _, n := range []int{100_000, 1_000_000} {
		b.Run(fmt.Sprintf("impl=durable/n=%d", n), func(b *testing.B) {
			if testing.Short() && n > 100_000 {
				b.Skip("it takes a minute")
			}
			for range b.N {
				dir := b.TempDir()
				w, err := durable.Open(b.Context(), durable.Config[string, string]{Dir: dir,
					Handle: func(context.Context, firing) error { return nil }})
				if err != nil {
					b.Fatal(err)
				}
				fill(b, w, 0, n)
				again(b, w, n, 9*n)
				b.ReportMetric(10*float64(n)/b.Elapsed().Seconds(), "ops/s")
				live := 0
				for i := range n {
					live += len(fmt.Sprint("key", i)) + len(value100)
				}
				b.ReportMetric(float64(size(b, dir))/(1<<20), "disk-MiB")
				b.ReportMetric(float64(live)/(1<<20), "live-MiB")
				w.Close()
			}
		})
	}
}

// size is the sum of the sizes of all files.
func size(b *testing.B, dir string) (n int64) {
	err := fs.WalkDir(os.DirFS(dir), ".", func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil // files come and go
		}
		if info, err := d.Info(); err == nil {
			n += info.Size()
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	return n
}
