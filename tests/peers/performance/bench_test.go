package main

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"
)

// What is measured here has no benchmark in package hierarchy, where only package
// time is compared with. Benchmarks are named as there: impl=…/n=…, n being how
// many timers are pending. Each is meant to run in a process of its own, as the
// command has it: timers of package time are left pending at the end.

// spread is a delay of an hour or two: nothing fires while a benchmark runs.
func spread() time.Duration { return time.Hour + rand.N(time.Hour) }

func sub(b *testing.B, impl string, n int, f func(b *testing.B)) {
	b.Run(fmt.Sprintf("impl=%s/n=%d", impl, n), f)
}

// ownKeys are the keys that BenchmarkSetStop sets and removes in turn, beside
// those that are pending.
const ownKeys = 1024

// BenchmarkSetStop sets a timer and stops it, anywhere among n that are pending.
func BenchmarkSetStop(b *testing.B) {
	for _, n := range []int{1, 1000, 10_000, 100_000, 1_000_000, 10_000_000} {
		for _, c := range contenders {
			sub(b, c.name, n, func(b *testing.B) {
				t := c.open(b, n+ownKeys)
				for i := range n {
					t.set(i, spread())
				}
				var delays [4096]time.Duration
				for i := range delays {
					delays[i] = spread()
				}
				runtime.GC()
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					t.setStop(n+i%ownKeys, delays[i%len(delays)])
				}
			})
		}
	}
}

// BenchmarkMemory tells what a pending timer takes: handles and boxed keys, which
// the caller may keep or not, are not counted.
func BenchmarkMemory(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		for _, c := range contenders {
			sub(b, c.name, n, func(b *testing.B) {
				for b.Loop() {
					t := c.open(b, n)
					before := inUse()
					for i := range n {
						t.set(i, spread())
					}
					b.ReportMetric((inUse()-before)/float64(n), "B/timer")
					runtime.KeepAlive(t)
				}
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// inUse is what is live: garbage that finalizers or pools held is gone after the
// second collection.
func inUse() float64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}
