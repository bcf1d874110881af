//go:build unix

package hierarchy_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
)

// calls are the durations of consecutive calls.
type calls []time.Duration

// while makes calls as long as busy returns true, and at least 1,000.
func (c *calls) while(busy func() bool, call func()) {
	for *c = (*c)[:0]; busy() || len(*c) < 1000; {
		start := time.Now()
		call()
		*c = append(*c, time.Since(start))
	}
}

// report reports the slowest calls. If there are none, because the machine was too busy, it says so.
func (c calls) report(b *testing.B, name string) {
	if len(c) == 0 {
		b.Logf("not measured: %s, as setting the timers outlasted the time for that", name)
		return
	}
	slices.Sort(c)
	us := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }
	b.ReportMetric(us(c[len(c)*99/100]), name+"-p99-µs")
	b.ReportMetric(us(c[len(c)*999/1000]), name+"-p99.9-µs")
	b.ReportMetric(us(c[len(c)-1]), name+"-max-µs")
}

// BenchmarkBurst makes a million timers due at one instant. It measures how long it takes
// until all have run: beside nobody, or beside a goroutine that sets and stops timers, and
// then how long its calls take.
func BenchmarkBurst(b *testing.B) {
	const n = 1_000_000
	for _, beside := range []string{"nobody", "caller"} {
		for _, e := range []struct {
			name string
			hierarchy.Executor
		}{{"Inline", hierarchy.Inline}, {"Go", hierarchy.Go}, {"Pool64", hierarchy.Pool(64)}} {
			run(b, "epicycle/executor="+e.name+"/beside="+beside, n, func(b *testing.B) {
				burst(b, n, beside == "caller", onWheel(hierarchy.Config{Executor: e.Executor})(b))
			})
		}
		run(b, "time/beside="+beside, n, func(b *testing.B) {
			burst(b, n, beside == "caller", afterFuncs[0].with(b))
		})
	}
}

// burst makes n timers due at one instant, once for each iteration.
func burst(b *testing.B, n int, calling bool, set afterFunc) {
	ahead := time.Second * time.Duration(1+n/1_000_000) // longer than setting them takes
	meanwhile := make(calls, 0, 10_000_000)
	var took time.Duration
	for b.Loop() {
		var left, last atomic.Int64
		left.Store(int64(n))
		at := time.Now().Add(ahead)
		for range n {
			set(time.Until(at), func() {
				if left.Add(-1) == 0 {
					last.Store(int64(time.Since(at)))
				}
			})
		}
		if time.Now().After(at) {
			b.Fatal("it took too long to set the timers")
		}
		time.Sleep(time.Until(at))
		if calling {
			meanwhile.while(func() bool { return left.Load() > 0 }, func() { set(time.Hour, nop)() })
		}
		for last.Load() == 0 {
			time.Sleep(10 * time.Millisecond)
		}
		took += time.Duration(last.Load())
	}
	b.ReportMetric(float64(took.Milliseconds())/float64(b.N), "ms/burst")
	b.ReportMetric(0, "ns/op")
	if calling {
		meanwhile.report(b, "call")
	}
}

// BenchmarkBurstBlocking makes a million timers due, all at one instant or a microsecond after
// each other. One in a thousand blocks for 10 ms, or none does. It measures how late they run.
func BenchmarkBurstBlocking(b *testing.B) {
	const n = 1_000_000
	for _, apart := range []time.Duration{0, time.Microsecond} {
		for _, block := range []time.Duration{0, 10 * time.Millisecond} {
			for _, impl := range afterFuncs[:2] {
				run(b, fmt.Sprintf("%s/apart=%v/block=%v", impl.name, apart, block), n, func(b *testing.B) {
					set, late := impl.with(b), make(calls, n)
					for b.Loop() {
						var all sync.WaitGroup
						all.Add(n)
						begin := time.Now().Add(time.Second)
						for i := range n {
							at := begin.Add(time.Duration(i) * apart)
							set(time.Until(at), func() {
								late[i] = time.Since(at)
								if i%1000 == 500 && block > 0 {
									time.Sleep(block)
								}
								all.Done()
							})
						}
						all.Wait()
					}
					b.ReportMetric(0, "ns/op")
					late.report(b, "late")
				})
			}
		}
	}
}

// BenchmarkCascade makes a million timers of one coarse slot, spread over a second,
// cascade and expire. It measures how late they are, and how late timers of a millisecond
// are that are set meanwhile. impl=floor is spinCrowd.
func BenchmarkCascade(b *testing.B) {
	const span = time.Second
	cascade := func(b *testing.B, n int64, set afterFunc) {
		crowd, short := make([]time.Duration, n), make(calls, 0, n)
		for b.Loop() {
			var ran atomic.Int64
			at := time.Now().Add(3 * span)
			for i := range n {
				at := at.Add(rand.N(span))
				set(time.Until(at), func() {
					crowd[i] = time.Since(at)
					ran.Add(1)
				})
			}
			time.Sleep(time.Until(at.Add(-100 * time.Millisecond)))
			end, done := at.Add(span+100*time.Millisecond), make(chan struct{})
			var again func()
			again = func() {
				at := time.Now().Add(time.Millisecond)
				if at.After(end) {
					close(done)
					return
				}
				set(time.Millisecond, func() {
					short = append(short, time.Since(at))
					again()
				})
			}
			again()
			<-done
			for ran.Load() < n {
				time.Sleep(time.Millisecond)
			}
		}
		b.ReportMetric(0, "ns/op")
		calls(crowd).report(b, "crowd")
		short.report(b, "1ms")
	}
	for _, n := range []int{400_000, 1_000_000} { // the larger one is more than a slow machine can fire in time
		run(b, "floor", n, func(b *testing.B) { cascade(b, int64(n), spinCrowd(b)) })
		for _, i := range afterFuncs {
			run(b, i.name, n, func(b *testing.B) { cascade(b, int64(n), i.with(b)) })
		}
	}
}

// BenchmarkCallsBesideCascade measures how long setting and stopping a timer takes, a few
// microseconds apart, while a million timers of one coarse slot cascade and expire.
func BenchmarkCallsBesideCascade(b *testing.B) {
	const n, span = 1_000_000, time.Second
	for _, impl := range afterFuncs[:3] {
		run(b, impl.name, n, func(b *testing.B) {
			set, meanwhile := impl.with(b), make(calls, 0, n)
			for b.Loop() {
				var left atomic.Int64
				left.Store(n)
				at := time.Now().Add(2 * span)
				for range n {
					set(time.Until(at)+rand.N(span), func() { left.Add(-1) })
				}
				time.Sleep(time.Until(at.Add(-600 * time.Millisecond)))
				meanwhile.while(func() bool { return left.Load() > 0 }, func() {
					set(time.Hour, nop)()
					for begin := time.Now(); time.Since(begin) < 3*time.Microsecond; {
					}
				})
			}
			b.ReportMetric(0, "ns/op")
			meanwhile.report(b, "call+3µs")
		})
	}
}

// BenchmarkResetLatency makes two goroutines reset random timers. It measures how long
// their calls take.
func BenchmarkResetLatency(b *testing.B) {
	const each = 1_000_000
	reset := func(b *testing.B, n int, reset func(i int, d time.Duration)) {
		took := make([]calls, 2)
		for b.Loop() {
			var all sync.WaitGroup
			for g := range took {
				all.Go(func() {
					left := each
					took[g].while(func() bool { left--; return left > 0 }, func() { reset(rand.IntN(n), anHourOrLess()) })
				})
			}
			all.Wait()
		}
		b.ReportMetric(0, "ns/op")
		slices.Concat(took...).report(b, "call")
	}
	for _, n := range []int{1_000_000, 10_000_000} {
		run(b, "epicycle", n, func(b *testing.B) {
			_, timers := loaded(b, n)
			reset(b, n, func(i int, d time.Duration) { timers[i].Reset(d) })
		})
		run(b, "time", n, func(b *testing.B) {
			timers := loadedTime(b, n)
			reset(b, n, func(i int, d time.Duration) { timers[i].Reset(d) })
		})
	}
}

// anHourOrLess returns a delay that is longer than a benchmark runs.
func anHourOrLess() time.Duration { return time.Minute + rand.N(59*time.Minute) }
