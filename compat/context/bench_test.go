package context_test

import (
	standard "context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/compat/context"
	"github.com/epicycle-go/epicycle/compat/internal/process"
	compattime "github.com/epicycle-go/epicycle/compat/time"
)

// BenchmarkWithTimeout makes a context and cancels it. impl=context is package context. n is
// how many timers are pending on each. What a program pays is measured: benchmarks are tests,
// where this package looks for bubbles, so that is turned off. impl=epicycle-in-tests has it
// turned on.
//
//	go test ./compat/context -run '^$' -bench . -count 10 | benchstat -col /impl -
func BenchmarkWithTimeout(b *testing.B) {
	cancellable, cancel := context.WithCancel(context.Background())
	defer cancel()
	for _, n := range []int{0, 1_000_000} {
		for _, below := range []struct {
			name   string
			parent context.Context
			done   bool
		}{
			{"background", context.Background(), false},
			{"cancellable", cancellable, false},
			{"cancellable/done", cancellable, true},
		} {
			for _, impl := range []string{"epicycle", "epicycle-in-tests", "context"} {
				b.Run(fmt.Sprintf("impl=%s/below=%s/n=%d", impl, below.name, n), func(b *testing.B) {
					if impl == "epicycle" {
						defer process.AssumeNoBubbles()()
					}
					withTimeout := context.WithTimeout
					if impl == "context" {
						withTimeout = standard.WithTimeout
					}
					load(b, n, impl != "context")
					b.ReportAllocs()
					for b.Loop() {
						ctx, cancel := withTimeout(below.parent, time.Hour)
						if below.done {
							ctx.Done()
						}
						cancel()
					}
				})
			}
		}
	}
}

// load sets n timers until the benchmark ends.
func load(b *testing.B, n int, ours bool) {
	for i := range n {
		var t interface{ Stop() bool }
		d := time.Hour + time.Duration(i)*7919*time.Microsecond%time.Hour
		if ours {
			t = compattime.AfterFunc(d, func() {})
		} else {
			t = time.AfterFunc(d, func() {})
		}
		b.Cleanup(func() { t.Stop() })
	}
	runtime.GC()
}
