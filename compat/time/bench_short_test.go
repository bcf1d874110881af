//go:build unix

package time_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	standard "time"

	"github.com/epicycle-go/epicycle/compat/time"
)

// shortWaits are ways to wait for a short time.
var shortWaits = []struct {
	name         string
	ours, theirs func(d time.Duration)
}{
	{"Sleep", time.Sleep, standard.Sleep},
	{"NewTimer", // as a limiter of a rate waits
		func(d time.Duration) { t := time.NewTimer(d); <-t.C; t.Stop() },
		func(d time.Duration) { t := standard.NewTimer(d); <-t.C; t.Stop() }},
}

// spin has n goroutines spin until the benchmark ends.
func spin(b *testing.B, n int) {
	var over atomic.Bool
	var spinners sync.WaitGroup
	for range n {
		spinners.Go(func() {
			for !over.Load() {
			}
		})
	}
	b.Cleanup(func() {
		over.Store(true)
		spinners.Wait()
	})
}

// BenchmarkShortWait has goroutines wait for a short time again and again, in a process that has
// nothing else to do, or beside one goroutine that is busy. One iteration is one wait.
//
//	go test ./compat/time -run '^$' -bench ShortWait -benchtime 5000x
func BenchmarkShortWait(b *testing.B) {
	for _, way := range shortWaits {
		for _, d := range []time.Duration{20 * time.Microsecond, 300 * time.Microsecond} {
			for _, loops := range []int{1, 4} {
				for _, busy := range []int{0, 1} {
					name := fmt.Sprintf("by=%s/d=%v/loops=%d/busy=%d", way.name, d, loops, busy)
					compared(b, name, func(b *testing.B, ours bool) {
						spin(b, busy)
						wait := way.theirs
						if ours {
							wait = way.ours
						}
						waitInLoops(b, loops, func() { wait(d) })
					})
				}
			}
		}
	}
}

// waitInLoops has so many goroutines call wait, together as often as the benchmark says.
func waitInLoops(b *testing.B, loops int, wait func()) {
	before := cpu(b)
	b.ResetTimer()
	var waiters sync.WaitGroup
	var left atomic.Int64
	left.Store(int64(b.N))
	for range loops {
		waiters.Go(func() {
			for left.Add(-1) >= 0 {
				wait()
			}
		})
	}
	waiters.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "waits/s")
	b.ReportMetric(float64(cpu(b)-before)/float64(b.N), "cpu-ns/op")
}
