package main

import (
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/tests/peers/contender"
	"github.com/epicycle-go/epicycle/tests/peers/internal/figures"
)

// BenchmarkLate sets one timer at a time, 100 µs to 5 ms ahead, with n timers pending. Rings
// have the finest interval that they can keep.
func BenchmarkLate(b *testing.B) {
	each(b, []int{0}, func(b *testing.B, c contender.Contender, n int) {
		const lone = 1024 // no number is used again before its timer has fired
		t := open(b, c, contender.Config{Timers: lone + n, Interval: c.Fine})
		preload(t, lone, lone+n)
		var late []time.Duration
		fired := make(chan time.Duration, 1)
		for i := 0; b.Loop(); i++ {
			time.Sleep(rand.N(max(c.Fine, time.Millisecond))) // anywhere between two ticks
			d := 100*time.Microsecond + rand.N(4900*time.Microsecond)
			start := time.Now()
			_ = t.Set(i%lone, d, func() { fired <- time.Since(start) - d })
			late = append(late, <-fired)
		}
		reportLate(b, late)
	})
}

// BenchmarkExpire runs n timers, spread over a second. It reports the processor time for
// setting and running them, and how late they are.
func BenchmarkExpire(b *testing.B) {
	each(b, []int{10_000, 100_000, 1_000_000}, func(b *testing.B, c contender.Contender, n int) {
		late := make([]time.Duration, n)
		var cpu time.Duration
		for b.Loop() {
			t := open(b, c, contender.Config{Timers: n, Interval: c.Fine})
			before := cpuTime(b)
			expire(b, t, late)
			cpu += cpuTime(b) - before
		}
		b.ReportMetric(cpu.Seconds()*1e3/float64(b.N), "cpu-ms/op")
		reportLate(b, late)
	})
}

// expire sets a timer for each element of late, and waits until all have stored how late
// they are.
func expire(b *testing.B, t contender.Timers, late []time.Duration) {
	var left atomic.Int64
	left.Store(int64(len(late)))
	done := make(chan bool)
	for i := range late {
		d := time.Second + rand.N(time.Second)
		start := time.Now()
		_ = t.Set(i, d, func() {
			late[i] = time.Since(start) - d
			if left.Add(-1) == 0 {
				close(done)
			}
		})
	}
	select {
	case <-done:
	case <-time.After(time.Minute):
		b.Fatalf("%d timers have not run", left.Load())
	}
}

// reportLate reports the earliest, the median and p99. Early timers are below zero.
func reportLate(b *testing.B, late []time.Duration) {
	slices.Sort(late)
	us := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(us(late[0]), "late-min-µs")
	b.ReportMetric(us(figures.Quantile(late, 0.5)), "late-p50-µs")
	b.ReportMetric(us(figures.Quantile(late, 0.99)), "late-p99-µs")
}
