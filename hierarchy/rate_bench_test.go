//go:build unix

package hierarchy_test

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// BenchmarkRate fires n timers a second for two seconds, in a process that has nothing else to do. Each timer sets the
// next one. cpu-µs/timer is the processor time that a timer takes, and the other figures are how late it was.
//
//	go test ./hierarchy -run '^$' -bench Rate -benchtime 1x -count 5
func BenchmarkRate(b *testing.B) {
	for _, n := range []int{20, 1000, 10_000} {
		for _, impl := range afterFuncs[:2] {
			run(b, impl.name, n, func(b *testing.B) {
				after := impl.with(b)
				for b.Loop() {
					runtime.GC()
					before := cpu(b)
					late := fireAtRate(after, n, 2*time.Second)
					b.ReportMetric(float64((cpu(b)-before).Nanoseconds())/1e3/float64(len(late)), "cpu-µs/timer")
					b.ReportMetric(float64(late[len(late)/2])/1e3, "late-p50-µs")
					b.ReportMetric(float64(late[len(late)*99/100])/1e3, "late-p99-µs")
				}
			})
		}
	}
}

// fireAtRate fires n timers a second for the given time, and returns how late each of them was, in order. There are as
// many timers at once as fire in 50 ms.
func fireAtRate(after afterFunc, n int, span time.Duration) []time.Duration {
	const mean = 50 * time.Millisecond
	late := make([]time.Duration, 2*n*int(span/time.Second))
	var fired atomic.Int64
	var chains sync.WaitGroup
	end := time.Now().Add(span)
	for range max(1, n*int(mean)/int(time.Second)) {
		chains.Add(1)
		var next func()
		next = func() {
			due := time.Now().Add(mean/2 + rand.N(mean))
			if due.After(end) {
				chains.Done()
				return
			}
			after(time.Until(due), func() {
				late[fired.Add(1)-1] = time.Since(due)
				next()
			})
		}
		next()
	}
	chains.Wait()
	late = late[:fired.Load()]
	slices.Sort(late)
	return late
}
