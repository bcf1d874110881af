package durable_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime/metrics"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// eachExport runs a benchmark for so many timers, and reports how many were done a second, and the most memory that was
// live on the heap, beside what was before.
func eachExport(b *testing.B, bench func(b *testing.B, n int) (do func())) {
	for _, n := range []int{100_000, 1_000_000, 10_000_000} {
		b.Run(fmt.Sprintf("impl=durable-p8/n=%d", n), func(b *testing.B) {
			if testing.Short() && n > 1_000_000 {
				b.Skip("it takes minutes")
			}
			do := bench(b, n)
			before := heap()
			peak := peakHeap()
			for b.Loop() {
				do()
			}
			b.ReportMetric(float64(max(peak(), before)-before)/(1<<20), "peak-MiB")
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "timers/s")
		})
	}
}

// peakHeap begins to watch the heap. What it returns ends that, and returns the most that was in use.
func peakHeap() (most func() uint64) {
	stop, peak := make(chan bool), make(chan uint64)
	go func() {
		most, sample := uint64(0), []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		for tick := time.NewTicker(10 * time.Millisecond); ; {
			select {
			case <-tick.C:
				metrics.Read(sample)
				most = max(most, sample[0].Value.Uint64())
			case <-stop:
				tick.Stop()
				peak <- most
				return
			}
		}
	}()
	return func() uint64 {
		close(stop)
		return <-peak
	}
}

// exportFile exports n timers to a file.
func exportFile(b *testing.B, w *strs, file string) {
	f, err := os.Create(file)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	if err := w.Export(b.Context(), f); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkExport writes n timers of a directory to a file.
func BenchmarkExport(b *testing.B) {
	eachExport(b, func(b *testing.B, n int) func() {
		w := benchOpen(b, func(context.Context, firing) error { return nil })
		fill(b, w, 0, n)
		file := filepath.Join(b.TempDir(), "lines")
		return func() { exportFile(b, w, file) }
	})
}

// BenchmarkImport reads n timers from a file into an empty directory. Its memory includes the timers.
func BenchmarkImport(b *testing.B) {
	eachExport(b, func(b *testing.B, n int) func() {
		nothing := func(context.Context, firing) error { return nil }
		w := benchOpen(b, nothing)
		fill(b, w, 0, n)
		file := filepath.Join(b.TempDir(), "lines")
		exportFile(b, w, file)
		w.Close()
		w = nil
		return func() {
			f, err := os.Open(file)
			if err != nil {
				b.Fatal(err)
			}
			defer f.Close()
			to, err := durable.Open(b.Context(), durable.Config[string, string]{Dir: b.TempDir(), Handle: nothing})
			if err != nil {
				b.Fatal(err)
			}
			defer to.Close()
			if got, err := to.Import(b.Context(), bufio.NewReader(f)); err != nil || got != n {
				b.Fatal(got, err)
			}
		}
	})
}
