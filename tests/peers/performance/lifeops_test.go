package main

import (
	"slices"
	"testing"
	"time"
)

// atOnce is how many calls are measured together.
const atOnce = 1 << 14

// remover is an expirer from which entries can be removed.
type remover interface{ remove(i int, at int64) }

// benchmarkAdd adds the last entries of l while the others are pending, and takes them away
// again, which is not measured.
func benchmarkAdd(b *testing.B, l lives, e expirer) {
	n := len(l.first) - atOnce
	for i, at := range l.first[:n] {
		e.set(i, at)
	}
	measureCalls(b, func() {
		for i, at := range l.first[n:] {
			e.set(n+i, at)
		}
	}, func() {
		for i, at := range l.first[n:] {
			e.(remover).remove(n+i, at)
		}
	})
}

// benchmarkUpdate gives random entries any other deadline.
func benchmarkUpdate(b *testing.B, l lives, e expirer) {
	at := slices.Clone(l.first)
	for i, at := range at {
		e.set(i, at)
	}
	n, i := len(at), 0
	measureCalls(b, func() {
		for end := i + atOnce; i < end; i++ {
			entry := l.order[i%n]
			to := l.second[(i+i/n)%n]
			e.update(int(entry), at[entry], to)
			at[entry] = to
		}
	}, func() {})
}

// measureCalls reports what each of the calls in f takes. undo is not measured.
func measureCalls(b *testing.B, f, undo func()) {
	var took time.Duration
	var allocated, allocs uint64
	calls := 0.0
	for b.Loop() {
		start := memory()
		took += cpuOf(b, f)
		end := memory()
		allocated += end.TotalAlloc - start.TotalAlloc
		allocs += end.Mallocs - start.Mallocs
		calls += atOnce
		undo()
	}
	b.ReportMetric(float64(took)/calls, nsPerCall)
	b.ReportMetric(float64(allocated)/calls, "allocated-B/call")
	b.ReportMetric(float64(allocs)/calls, "allocs/call")
	b.ReportMetric(0, "ns/op")
}
