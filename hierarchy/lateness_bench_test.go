//go:build unix

package hierarchy_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// The benchmarks of this file use real clocks and need an idle machine. One iteration is
// one timer, or one run of many timers. The relevant figures are the metrics other than
// ns/op.
//
//	go test ./hierarchy -run '^$' -bench 'Lateness|Lone' -benchtime 400x -count 5
//	go test ./hierarchy -run '^$' -bench 'Chain|Dense' -benchtime 1x -count 5

// afterFuncs are the implementations that are compared.
var afterFuncs = []struct {
	name string
	with func(b *testing.B) afterFunc
}{
	{"time", func(*testing.B) afterFunc {
		return func(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }
	}},
	{"epicycle", onWheel(hierarchy.Config{})},
	{"epicycle/precision=1µs", onWheel(hierarchy.Config{Precision: time.Microsecond})},
	{"epicycle/precision=1µs/inline", onWheel(hierarchy.Config{
		Precision: time.Microsecond, Executor: hierarchy.Inline,
	})},
	{"spinning", onWheel(hierarchy.Config{
		Precision: time.Microsecond, Executor: hierarchy.Inline, Clock: clock.Spinning(150 * time.Microsecond),
	})},
}

// afterFunc sets a timer, and returns what stops it.
type afterFunc func(d time.Duration, f func()) (stop func() bool)

func onWheel(cfg hierarchy.Config) func(b *testing.B) afterFunc {
	return func(b *testing.B) afterFunc {
		w := newWheel(b, cfg)
		return func(d time.Duration, f func()) func() bool {
			t, _ := w.AfterFunc(d, f)
			return t.Stop
		}
	}
}

// loads are what the processors do besides the benchmark.
var loads = []struct {
	name string
	work func(stop *atomic.Bool)
}{
	{"idle", nil},
	{"yielding", func(stop *atomic.Bool) {
		for !stop.Load() {
			for start := time.Now(); time.Since(start) < 5*time.Microsecond; {
			}
			runtime.Gosched()
		}
	}},
	{"unyielding", func(stop *atomic.Bool) {
		for !stop.Load() {
		}
	}},
}

// busyWith runs f while all processors are busy with work.
func busyWith(work func(stop *atomic.Bool), f func()) {
	var stop atomic.Bool
	var wg sync.WaitGroup
	for range 2 * runtime.GOMAXPROCS(0) {
		if work != nil {
			wg.Go(func() { work(&stop) })
		}
	}
	f()
	stop.Store(true)
	wg.Wait()
}

// BenchmarkLateness sets one timer at a time, 100 µs to 5 ms ahead.
func BenchmarkLateness(b *testing.B) {
	for _, load := range loads {
		for _, impl := range afterFuncs {
			b.Run(fmt.Sprintf("load=%s/impl=%s", load.name, impl.name), func(b *testing.B) {
				after := impl.with(b)
				busyWith(load.work, func() {
					benchLateness(b, after, func() time.Duration {
						return 100*time.Microsecond + rand.N(4900*time.Microsecond)
					})
				})
			})
		}
	}
}

// BenchmarkLone sets one timer at a time, with the delays for which the runtime's sleep is
// least precise.
func BenchmarkLone(b *testing.B) {
	delays := []time.Duration{1700 * time.Microsecond, 3300 * time.Microsecond, 5600 * time.Microsecond}
	for _, impl := range afterFuncs[:2] {
		b.Run("impl="+impl.name, func(b *testing.B) {
			i := 0
			benchLateness(b, impl.with(b), func() time.Duration { i++; return delays[i%len(delays)] })
		})
	}
}

func benchLateness(b *testing.B, after afterFunc, delay func() time.Duration) {
	var late []time.Duration
	fired := make(chan time.Duration, 1)
	for b.Loop() {
		d := delay()
		start := time.Now()
		after(d, func() { fired <- time.Since(start) - d })
		late = append(late, <-fired)
	}
	slices.Sort(late)
	if late[0] < 0 {
		b.Fatal("a timer was early by", -late[0])
	}
	for name, share := range map[string]float64{"p50-µs": 0.5, "p99-µs": 0.99} {
		b.ReportMetric(late[int(share*float64(len(late)-1))].Seconds()*1e6, name)
	}
}

// BenchmarkChain measures the processor time per second of timers, each set by the callback of
// the one before.
func BenchmarkChain(b *testing.B) {
	for _, impl := range afterFuncs[:2] {
		for _, d := range []time.Duration{10 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond} {
			chain(b, "impl="+impl.name+"/d="+d.String(), impl.with, d)
		}
	}
}

func chain(b *testing.B, name string, with func(b *testing.B) afterFunc, d time.Duration) {
	b.Run(name, func(b *testing.B) {
		after := with(b)
		before, start := cpu(b), time.Now()
		for b.Loop() {
			done, left := make(chan bool), 20
			var link func()
			link = func() {
				if left--; left < 0 {
					close(done)
					return
				}
				after(d, link)
			}
			link()
			<-done
		}
		b.ReportMetric((cpu(b)-before).Seconds()/time.Since(start).Seconds()*1e3, "cpu-ms/s")
	})
}

// BenchmarkDense measures the processor time and the wake-ups per second of so many timers a
// second with random deadlines, for five seconds.
func BenchmarkDense(b *testing.B) {
	const span = 5 * time.Second
	dense := func(name string, rate int, cfg hierarchy.Config, afterFunc bool) {
		n := 5 * rate
		name += fmt.Sprintf("/rate=%d", rate)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				before := cpu(b)
				var left atomic.Int64
				left.Store(int64(n))
				done := make(chan bool)
				f := func() {
					if left.Add(-1) == 0 {
						close(done)
					}
				}
				w := newWheel(b, cfg)
				for range n {
					if afterFunc {
						time.AfterFunc(rand.N(span), f)
					} else {
						_, _ = w.AfterFunc(rand.N(span), f)
					}
				}
				<-done
				b.ReportMetric((cpu(b)-before).Seconds()/span.Seconds()*1e3, "cpu-ms/s")
				b.ReportMetric(float64(w.Stats().Wakeups)/span.Seconds(), "wakeups/s")
				w.Stop()
			}
		})
	}
	for _, rate := range []int{1000, 4000, 10_000} {
		dense("impl=time", rate, hierarchy.Config{}, true)
		dense("impl=epicycle", rate, hierarchy.Config{}, false)
	}
	dense("impl=epicycle/precision=100µs", 10_000, hierarchy.Config{Precision: 100 * time.Microsecond}, false)
}
