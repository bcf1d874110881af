//go:build unix

package hierarchy_test

import (
	"testing"

	"github.com/epicycle-go/epicycle/hierarchy"
)

// BenchmarkHundredMillion sets and stops a timer among a hundred million, which take some five
// gigabytes, and for comparison among 10,000. It measures their bytes, too.
//
//	go test ./hierarchy -run '^$' -bench 'HundredMillion|TenMillion' -timeout 30m
func BenchmarkHundredMillion(b *testing.B) {
	for _, n := range []int{10_000, 100_000_000} {
		run(b, "epicycle", n, func(b *testing.B) {
			before := heap()
			w := newWheel(b, hierarchy.Config{})
			for range n {
				_, _ = w.AfterFunc(spread(), nop)
			}
			bytes := float64(heap()-before) / float64(n)
			delay := someOf(spread)
			for b.Loop() {
				t, _ := w.AfterFunc(delay(), nop)
				t.Stop()
			}
			b.ReportMetric(bytes, "B/timer")
		})
	}
}

// BenchmarkTenMillion makes ten million timers due at one instant, and a million.
func BenchmarkTenMillion(b *testing.B) {
	for _, n := range []int{1_000_000, 10_000_000} {
		for name, e := range map[string]hierarchy.Executor{"Inline": hierarchy.Inline, "Go": hierarchy.Go} {
			run(b, "epicycle/executor="+name, n, func(b *testing.B) {
				burst(b, n, false, onWheel(hierarchy.Config{Executor: e})(b))
			})
		}
		run(b, "time", n, func(b *testing.B) { burst(b, n, false, afterFuncs[0].with(b)) })
	}
}
