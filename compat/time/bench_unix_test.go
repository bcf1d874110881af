//go:build unix

package time_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
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

// BenchmarkSleep has n goroutines that sleep for 20 µs to 2 ms over and over. cpu-ns/sleep is what a sleep takes, and the
// other figures are how late it was.
//
//	go test ./compat/time -run '^$' -bench Sleep -benchtime 1x -count 5
func BenchmarkSleep(b *testing.B) {
	for _, n := range []int{1, 10, 100, 1000} {
		compared(b, fmt.Sprintf("n=%d", n), func(b *testing.B, ours bool) {
			sleep := standard.Sleep
			if ours {
				sleep = time.Sleep
			}
			for b.Loop() {
				before := cpu(b)
				late := sleepers(n, max(100, 2000/n), sleep)
				b.ReportMetric(float64(cpu(b)-before)/float64(len(late)), "cpu-ns/sleep")
				b.ReportMetric(float64(late[len(late)/2])/1e3, "late-p50-µs")
				b.ReportMetric(float64(late[len(late)*99/100])/1e3, "late-p99-µs")
			}
		})
	}
}

// sleepers has n goroutines sleep, and returns how late each sleep was, in order.
func sleepers(n, each int, sleep func(time.Duration)) []time.Duration {
	late := make([]time.Duration, n*each)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			for j := range each {
				d := 20*time.Microsecond + rand.N(1980*time.Microsecond)
				start := time.Now()
				sleep(d)
				late[i*each+j] = time.Since(start) - d
			}
		})
	}
	all.Wait()
	slices.Sort(late)
	return late
}

// BenchmarkLate waits for one timer at a time, in a process that has nothing else to do.
//
//	go test ./compat/time -run '^$' -bench Late -benchtime 1x -count 5
func BenchmarkLate(b *testing.B) {
	for _, way := range shortWaits {
		compared(b, "by="+way.name, func(b *testing.B, ours bool) {
			wait := way.theirs
			if ours {
				wait = way.ours
			}
			for b.Loop() {
				late := sleepers(1, 1000, wait)
				b.ReportMetric(float64(late[len(late)/2])/1e3, "late-p50-µs")
				b.ReportMetric(float64(late[len(late)*99/100])/1e3, "late-p99-µs")
			}
		})
	}
}

// BenchmarkPolledTicks looks for ticks of a millisecond in a loop that keeps the only processor busy. One iteration is a
// second, in which there are a thousand.
//
//	go test ./compat/time -run '^$' -bench PolledTicks -benchtime 2x
func BenchmarkPolledTicks(b *testing.B) {
	compared(b, "n=1", func(b *testing.B, ours bool) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
		ticks := standard.NewTicker(time.Millisecond).C
		if ours {
			ticks = time.NewTicker(time.Millisecond).C
		}
		seen := 0
		for b.Loop() {
			for start := time.Now(); time.Since(start) < time.Second; {
				select {
				case <-ticks:
					seen++
				default:
				}
			}
		}
		b.ReportMetric(float64(seen)/float64(b.N), "ticks/s")
	})
}

// BenchmarkUnreadTicks has a ticker of a millisecond that nobody reads in an idle process, for two seconds.
//
//	go test ./compat/time -run '^$' -bench UnreadTicks -benchtime 1x -count 3
func BenchmarkUnreadTicks(b *testing.B) {
	compared(b, "n=1", func(b *testing.B, ours bool) {
		stop := standard.NewTicker(time.Millisecond).Stop
		if ours {
			stop = time.NewTicker(time.Millisecond).Stop
		}
		defer stop()
		before, start := cpu(b), time.Now()
		for b.Loop() {
			standard.Sleep(2 * time.Second)
		}
		b.ReportMetric(100*float64(cpu(b)-before)/float64(time.Since(start)), "cpu-%")
	})
}

// BenchmarkForgotten makes timers of an hour that nobody refers to.
//
//	go test ./compat/time -run '^$' -bench Forgotten -benchtime 200000x
func BenchmarkForgotten(b *testing.B) {
	compared(b, "n=0", func(b *testing.B, ours bool) {
		before := inUse()
		for b.Loop() {
			if ours {
				time.NewTimer(time.Hour)
			} else {
				standard.NewTimer(time.Hour)
			}
		}
		b.ReportMetric(float64(inUse()-before)/float64(b.N), "kept-B/op")
	})
}

// inUse returns how many bytes are in use.
func inUse() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
