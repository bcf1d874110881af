package hierarchy_test

import (
	"context"
	"fmt"
	"testing"
	"time"
)

type contextKey struct{}

// contextTrees make the contexts of a request and return the function that cancels them.
var contextTrees = []struct {
	name  string
	begin func(with withTimeout) (end func())
}{
	// Nobody waits for the timeout.
	{"unread", func(with withTimeout) func() {
		parent, cancelParent := context.WithCancel(context.Background())
		_, cancel := with(parent, time.Hour)
		return func() { cancel(); cancelParent() }
	}},
	// The code below checks between two steps whether it may go on.
	{"checked", func(with withTimeout) func() {
		parent, cancelParent := context.WithCancel(context.Background())
		ctx, cancel := with(parent, time.Hour)
		for range 3 {
			_ = ctx.Err()
		}
		return func() { cancel(); cancelParent() }
	}},
	// A server limits the request, the handler limits a part of it, and a client waits for that part.
	{"nested", func(with withTimeout) func() {
		parent, cancelParent := context.WithCancel(context.Background())
		whole, cancelWhole := with(parent, time.Hour)
		part, cancelPart := with(whole, time.Minute)
		_ = part.Done()
		return func() { cancelPart(); cancelWhole(); cancelParent() }
	}},
	// A client waits for a request that has no parent.
	{"outgoing", func(with withTimeout) func() {
		ctx, cancel := with(context.Background(), time.Hour)
		_ = ctx.Done()
		child, cancelChild := context.WithCancel(ctx)
		_ = child.Done()
		return func() { cancelChild(); cancel() }
	}},
	// A library that waits makes a cancel context below the timeout.
	{"child", func(with withTimeout) func() {
		parent, cancelParent := context.WithCancel(context.Background())
		ctx, cancel := with(parent, time.Hour)
		child, cancelChild := context.WithCancel(ctx)
		_ = child.Done()
		return func() { cancelChild(); cancel(); cancelParent() }
	}},
	// Values are added above the timeout, as docs/recipes.md advises.
	{"values", func(with withTimeout) func() {
		parent, cancelParent := context.WithCancel(context.Background())
		value := context.WithValue(context.WithValue(parent, contextKey{}, 1), contextKey{}, 2)
		ctx, cancel := with(value, time.Hour)
		child, cancelChild := context.WithCancel(ctx)
		_ = child.Done()
		return func() { cancelChild(); cancel(); cancelParent() }
	}},
}

// BenchmarkContextTree makes the contexts of a request, and cancels them.
//
//	go test ./hierarchy -run '^$' -bench ContextTree -count 10 | benchstat -col /impl -
func BenchmarkContextTree(b *testing.B) {
	for _, tree := range contextTrees {
		for _, n := range []int{0, 1_000_000} {
			benchmarkImpls(b, "/tree="+tree.name, n, func(b *testing.B, with withTimeout) {
				for b.Loop() {
					tree.begin(with)()
				}
			})
		}
	}
}

// benchmarkImpls runs f with contexts of a wheel and of package context, with n timers pending on each.
func benchmarkImpls(b *testing.B, name string, n int, f func(b *testing.B, with withTimeout)) {
	run(b, "epicycle"+name, n, func(b *testing.B) {
		w, _ := loaded(b, n)
		f(b, w.WithTimeout)
	})
	run(b, "context"+name, n, func(b *testing.B) {
		loadedTime(b, n)
		f(b, context.WithTimeout)
	})
}

// chainOfContexts returns the last of some nested timeouts, with a value above each if values is true.
func chainOfContexts(with withTimeout, parent context.Context, nested int, values bool) (ctx context.Context, cancel func()) {
	ctx, cancel = parent, func() {}
	for i := range nested {
		if values {
			ctx = context.WithValue(ctx, contextKey{}, i)
		}
		below, cancelBelow := with(ctx, time.Hour-time.Duration(i)*time.Second)
		cancelAbove := cancel
		ctx, cancel = below, func() { cancelBelow(); cancelAbove() }
	}
	return ctx, cancel
}

// BenchmarkContextChain uses the last of some nested timeouts. call=Err calls its Err, call=WithCancel makes a child
// of it and cancels the child, and call=WithTimeout does that with a timeout.
//
//	go test ./hierarchy -run '^$' -bench ContextChain -count 10 | benchstat -col /impl -
func BenchmarkContextChain(b *testing.B) {
	parent, cancelParent := context.WithCancel(context.Background())
	defer cancelParent()
	for name, call := range map[string]func(b *testing.B, with withTimeout, ctx context.Context){
		"Err": func(b *testing.B, _ withTimeout, ctx context.Context) {
			for b.Loop() {
				_ = ctx.Err()
			}
		},
		"WithCancel": func(b *testing.B, _ withTimeout, ctx context.Context) {
			for b.Loop() {
				_, cancel := context.WithCancel(ctx)
				cancel()
			}
		},
		"WithTimeout": func(b *testing.B, with withTimeout, ctx context.Context) {
			for b.Loop() {
				_, cancel := with(ctx, time.Minute)
				cancel()
			}
		},
	} {
		for _, nested := range []int{1, 3, 10} {
			for below, parent := range map[string]context.Context{"background": context.Background(), "cancellable": parent} {
				for _, values := range []bool{false, true} {
					about := fmt.Sprintf("/call=%s/below=%s/nested=%d/values=%v", name, below, nested, values)
					benchmarkImpls(b, about, 0, func(b *testing.B, with withTimeout) {
						ctx, cancel := chainOfContexts(with, parent, nested, values)
						defer cancel()
						call(b, with, ctx)
					})
				}
			}
		}
	}
}
