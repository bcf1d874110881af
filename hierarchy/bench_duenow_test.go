package hierarchy_test

import (
	"slices"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
)

// BenchmarkDueNow measures the time from a call of AfterFunc(0) until its callback begins,
// one after the other, with a Precision of a millisecond. p50-ns is the median.
//
//	go test ./hierarchy -run '^$' -bench DueNow -count 10 | benchstat -col /impl -
func BenchmarkDueNow(b *testing.B) {
	for name, executor := range map[string]hierarchy.Executor{
		"Go": hierarchy.Go, "Pool": hierarchy.Pool(2), "Inline": hierarchy.Inline,
		"own": func(task func()) { go task() },
	} {
		run(b, "epicycle/by="+name, 0, func(b *testing.B) {
			w := newWheel(b, hierarchy.Config{Executor: executor})
			dueNowLatency(b, func(f func()) { _, _ = w.AfterFunc(0, f) })
		})
	}
	run(b, "time/by=Go", 0, func(b *testing.B) {
		dueNowLatency(b, func(f func()) { time.AfterFunc(0, f) })
	})
}

func dueNowLatency(b *testing.B, set func(f func())) {
	begun := make(chan time.Time)
	f := func() { begun <- time.Now() }
	var took []time.Duration
	for b.Loop() {
		start := time.Now()
		set(f)
		took = append(took, (<-begun).Sub(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds()), "p50-ns")
}
