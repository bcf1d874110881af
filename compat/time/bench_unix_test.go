//go:build unix

package time_test

import (
	"fmt"
	"sync"
	"syscall"
	"testing"
	standard "time"

	"github.com/epicycle-go/epicycle/compat/time"
)

// cpu is the processor time that the process has used.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkSleep has n goroutines that sleep for 10 ms over and over. cpu-ns/sleep is what a
// sleep takes.
func BenchmarkSleep(b *testing.B) {
	for _, n := range []int{1, 1000, 10_000} {
		compared(b, fmt.Sprintf("n=%d", n), func(b *testing.B, ours bool) {
			sleep := standard.Sleep
			if ours {
				sleep = time.Sleep
			}
			rounds := max(20, 100_000/n)
			for b.Loop() {
				before, start := cpu(b), time.Now()
				var all sync.WaitGroup
				for range n {
					all.Go(func() {
						for range min(rounds, 100) {
							sleep(10 * time.Millisecond)
						}
					})
				}
				all.Wait()
				sleeps := float64(n * min(rounds, 100))
				b.ReportMetric(float64(cpu(b)-before)/sleeps, "cpu-ns/sleep")
				b.ReportMetric(float64(time.Since(start).Microseconds())/float64(min(rounds, 100)), "µs/round")
			}
		})
	}
}
