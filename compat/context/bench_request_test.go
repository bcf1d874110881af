package context_test

import (
	standard "context"
	"runtime"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/compat/context"
	"github.com/epicycle-go/epicycle/compat/internal/process"
)

// BenchmarkRequest makes the contexts of a request, and cancels them: a cancel context, one with a
// timeout below it, a value below that, and a cancel context below the value. goroutines is how
// many there are for each such request while it lasts.
func BenchmarkRequest(b *testing.B) {
	defer process.AssumeNoBubbles()()
	benchmarkRequests(b, "epicycle", context.WithTimeout, context.WithValue)
	benchmarkRequests(b, "epicycle-but-for-values", context.WithTimeout, standard.WithValue)
	benchmarkRequests(b, "context", standard.WithTimeout, standard.WithValue)
}

func benchmarkRequests(b *testing.B, impl string, withTimeout func(context.Context, time.Duration) (context.Context, context.CancelFunc),
	withValue func(parent context.Context, key, val any) context.Context,
) {
	type key struct{}
	begin := func() (end func()) {
		parent, cancelParent := context.WithCancel(context.Background())
		timeout, cancel := withTimeout(parent, time.Hour)
		child, cancelChild := context.WithCancel(withValue(timeout, key{}, 1))
		_ = child.Done()
		return func() { cancelChild(); cancel(); cancelParent() }
	}
	b.Run("impl="+impl, func(b *testing.B) {
		const few = 100
		before := runtime.NumGoroutine()
		var ends [few]func()
		for i := range ends {
			ends[i] = begin()
		}
		goroutines := runtime.NumGoroutine() - before
		for _, end := range ends {
			end()
		}
		b.ReportAllocs()
		for b.Loop() {
			begin()()
		}
		b.ReportMetric(float64(goroutines)/few, "goroutines")
	})
}
