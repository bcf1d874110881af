//go:build unix

package durable_test

import (
	"syscall"
	"testing"
	"time"
)

// BenchmarkIdle measures the CPU time of three seconds without work, with a hundred thousand
// timers pending.
func BenchmarkIdle(b *testing.B) {
	w := benchOpen(b, nil)
	fill(b, w, 0, 100_000)
	heap()
	time.Sleep(5 * time.Second) // the collector has things to finish
	begun := used(b)
	for range b.N {
		time.Sleep(3 * time.Second)
	}
	b.ReportMetric((used(b)-begun).Seconds()*1000/float64(b.N), "cpu-ms/3s")
}

// used is the CPU time of this process.
func used(b *testing.B) time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		b.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
