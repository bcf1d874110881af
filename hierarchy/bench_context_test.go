package hierarchy_test

import (
	"context"
	"runtime"
	"testing"
	"time"
)

// withTimeout makes contexts: context.WithTimeout, or that of a wheel.
type withTimeout func(parent context.Context, d time.Duration) (context.Context, context.CancelFunc)

// BenchmarkContext makes a context with a timeout and cancels it, with or without a call
// of Done. The parent is context.Background, a cancel context that all share, or a new
// cancel context each time. impl=context is package context.
//
//	go test ./hierarchy -run '^$' -bench 'Context/' -count 10 | benchstat -col /impl -
func BenchmarkContext(b *testing.B) {
	for _, n := range []int{0, 1_000_000} {
		benchmarkContexts(b, "epicycle", n, func(b *testing.B) withTimeout {
			w, _ := loaded(b, n)
			return w.WithTimeout
		})
		benchmarkContexts(b, "context", n, func(b *testing.B) withTimeout {
			loadedTime(b, n)
			return context.WithTimeout
		})
	}
}

// BenchmarkContextRequest makes the contexts of a request, and cancels them: a cancel context, one
// with a timeout below it, a value below that, and a cancel context below the value. goroutines is
// how many there are for each such request while it lasts.
func BenchmarkContextRequest(b *testing.B) {
	benchmarkRequests(b, "epicycle", func(b *testing.B) withTimeout {
		w, _ := loaded(b, 0)
		return w.WithTimeout
	})
	benchmarkRequests(b, "context", func(*testing.B) withTimeout { return context.WithTimeout })
}

func benchmarkRequests(b *testing.B, impl string, load func(b *testing.B) withTimeout) {
	type key struct{}
	run(b, impl, 0, func(b *testing.B) {
		with := load(b)
		begin := func() (end func()) {
			parent, cancelParent := context.WithCancel(context.Background())
			timeout, cancel := with(parent, time.Hour)
			child, cancelChild := context.WithCancel(context.WithValue(timeout, key{}, 1))
			_ = child.Done()
			return func() { cancelChild(); cancel(); cancelParent() }
		}
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

func benchmarkContexts(b *testing.B, impl string, n int, load func(b *testing.B) withTimeout) {
	parent, cancelParent := context.WithCancel(context.Background())
	defer cancelParent()
	for _, below := range []struct {
		name   string
		parent context.Context
	}{{"background", context.Background()}, {"cancellable", parent}} {
		run(b, impl+"/below="+below.name, n, func(b *testing.B) {
			with := load(b)
			for b.Loop() {
				_, cancel := with(below.parent, time.Hour)
				cancel()
			}
		})
		run(b, impl+"/done/below="+below.name, n, func(b *testing.B) {
			with := load(b)
			for b.Loop() {
				ctx, cancel := with(below.parent, time.Hour)
				_ = ctx.Done()
				cancel()
			}
		})
	}
	run(b, impl+"/done/below=new", n, func(b *testing.B) {
		with := load(b)
		for b.Loop() {
			parent, cancelParent := context.WithCancel(context.Background())
			ctx, cancel := with(parent, time.Hour)
			_ = ctx.Done()
			cancel()
			cancelParent()
		}
	})
}
