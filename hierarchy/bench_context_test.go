package hierarchy_test

import (
	"context"
	"testing"
	"time"
)

// BenchmarkContext makes a context with a timeout and cancels it, with or without a call
// of Done. The parent is context.Background, a cancel context that all share, or a new
// cancel context each time. impl=context is package context.
//
//	go test ./hierarchy -run '^$' -bench 'Context/' -count 10 | benchstat -col /impl -
func BenchmarkContext(b *testing.B) {
	for _, n := range []int{0, 1_000_000} {
		benchmarkContexts(b, "epicycle", n, func(b *testing.B) contexts {
			w, _ := loaded(b, n)
			return wheelContexts(w)
		})
		benchmarkContexts(b, "context", n, func(b *testing.B) contexts {
			loadedTime(b, n)
			return stdContexts
		})
	}
}

func benchmarkContexts(b *testing.B, impl string, n int, load func(b *testing.B) contexts) {
	parent, cancelParent := context.WithCancel(context.Background())
	defer cancelParent()
	for _, below := range []struct {
		name   string
		parent context.Context
	}{{"background", context.Background()}, {"cancellable", parent}} {
		run(b, impl+"/below="+below.name, n, func(b *testing.B) {
			c := load(b)
			for b.Loop() {
				_, cancel := c.withTimeout(below.parent, time.Hour)
				cancel()
			}
		})
		run(b, impl+"/done/below="+below.name, n, func(b *testing.B) {
			c := load(b)
			for b.Loop() {
				ctx, cancel := c.withTimeout(below.parent, time.Hour)
				_ = ctx.Done()
				cancel()
			}
		})
	}
	run(b, impl+"/done/below=new", n, func(b *testing.B) {
		c := load(b)
		for b.Loop() {
			parent, cancelParent := context.WithCancel(context.Background())
			ctx, cancel := c.withTimeout(parent, time.Hour)
			_ = ctx.Done()
			cancel()
			cancelParent()
		}
	})
}
