package remote

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
)

// BenchmarkSet sets timers with keys of 16 and values of 100 bytes, by n callers, on a log in memory:
// in the owner's process, and by messages to another one.
func BenchmarkSet(b *testing.B) {
	for _, callers := range []int{1, 128} {
		for _, impl := range []string{"local", "remote"} {
			b.Run(fmt.Sprintf("impl=%s/n=%d", impl, callers), func(b *testing.B) {
				bench := newBench(b)
				o, c := bench.own(), bench.client()
				do := func(ctx context.Context, call *core.Call) error { return c.Do(ctx, 0, call, c.Now()) }
				if impl == "local" {
					do = o.Do
				}
				value := make([]byte, 100)
				callAll(b, callers, func(call *core.Call, i int64) error {
					ask := setOp("", "")
					ask.Key, ask.Value = fmt.Appendf(ask.Key, "key %012d", i%100_000), value
					call.Reset()
					call.Ops = append(call.Ops, ask)
					return do(b.Context(), call)
				})
			})
		}
	}
}

// BenchmarkGet gets timers by messages to another process.
func BenchmarkGet(b *testing.B) {
	for _, callers := range []int{1, 128} {
		b.Run(fmt.Sprintf("impl=remote/n=%d", callers), func(b *testing.B) {
			bench := newBench(b)
			bench.own()
			c := bench.client()
			bench.do(c, setOp("key", string(make([]byte, 100))))
			callAll(b, callers, func(*core.Call, int64) error {
				_, _, _, err := c.Get(b.Context(), 0, []byte("key"))
				return err
			})
		})
	}
}

// callAll has callers do something b.N times in all.
func callAll(b *testing.B, callers int, do func(call *core.Call, i int64) error) {
	var next atomic.Int64
	var wg sync.WaitGroup
	b.ReportAllocs()
	b.ResetTimer()
	begun := time.Now()
	for range callers {
		wg.Go(func() {
			call := new(core.Call)
			for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
				if err := do(call, i); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(b.N)/time.Since(begun).Seconds(), "calls/s")
	b.StopTimer()
}
