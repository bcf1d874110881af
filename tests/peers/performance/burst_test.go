package main

import (
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/tests/peers/contender"
	"github.com/epicycle-go/epicycle/tests/peers/internal/figures"
)

// bursting are the contenders of BenchmarkBurst: package time, and a wheel with each
// executor.
var bursting = []contender.Contender{
	contender.Named("time"),
	onWheel("wheel/executor=Inline", hierarchy.Inline),
	onWheel("wheel/executor=Go", hierarchy.Go),
	onWheel("wheel/executor=Pool64", hierarchy.Pool(64)),
}

func onWheel(name string, e hierarchy.Executor) contender.Contender {
	return contender.Contender{Name: name, Open: func(c contender.Config) (contender.Timers, error) {
		return contender.OnWheel(hierarchy.Config{Executor: e}, c.Kept)
	}}
}

// BenchmarkBurst makes n timers due at one instant. Unlike the benchmark of the same name in
// package hierarchy, it reports the whole distribution of how long setting and stopping a
// timer takes meanwhile.
func BenchmarkBurst(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		for _, c := range bursting {
			sub(b, c.Name, n, func(b *testing.B) {
				for b.Loop() {
					took, calls := burst(n, open(b, c, contender.Config{Timers: 1 + n, Kept: 1}))
					if len(calls) == 0 {
						b.Logf("not measured: setting the timers took longer than %v", ahead)
						continue
					}
					b.ReportMetric(float64(took.Nanoseconds())/1e6, "ms/burst")
					reportCalls(b, calls)
					b.ReportMetric(0, "ns/op") // there must be some figure, if there is no other
				}
			})
		}
	}
}

// ahead is longer than setting the timers takes.
const ahead = time.Second

// burst returns how long after the deadline the last timer ran, and how long each call took
// that was made until then, for at least 1,000 calls. It returns no calls if the timers were not set in time.
func burst(n int, t contender.Timers) (took time.Duration, calls []time.Duration) {
	calls = make([]time.Duration, 0, 20_000_000)
	var left, last atomic.Int64
	left.Store(int64(n))
	at := time.Now().Add(ahead)
	for i := range n {
		_ = t.Set(1+i, time.Until(at), func() {
			if left.Add(-1) == 0 {
				last.Store(int64(time.Since(at)))
			}
		})
	}
	if time.Now().After(at) {
		return 0, nil
	}
	time.Sleep(time.Until(at))
	for left.Load() > 0 || len(calls) < 1000 {
		start := time.Now()
		_ = t.Set(0, time.Hour, nop)
		t.Stop(0)
		calls = append(calls, time.Since(start))
	}
	for last.Load() == 0 {
		time.Sleep(time.Millisecond) // its callback is about to end
	}
	return time.Duration(last.Load()), calls
}

// reportCalls reports the distribution from the slowest half of the calls to the slowest one
// in a million, in equal steps of a logarithmic axis.
func reportCalls(b *testing.B, calls []time.Duration) {
	slices.Sort(calls)
	us := func(share float64) float64 {
		return float64(figures.Quantile(calls, 1-share).Nanoseconds()) / 1000
	}
	b.ReportMetric(float64(len(calls)), "calls")
	b.ReportMetric(us(0), "call-max-µs")
	b.ReportMetric(us(0.5), "call-p50-µs")
	for fifths := range 31 {
		share := math.Pow(10, -float64(fifths)/5)
		if share*float64(len(calls)) >= 1 {
			b.ReportMetric(us(share), fmt.Sprintf("over-%.3g-µs", share))
		}
	}
}
