package gozero

import (
	"math/rand/v2"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	pendingKeys = 300_000
	cachedKeys  = 100_000
	ringSlots   = 300 // the number that go-zero's own cache uses
)

// later returns a delay of one to six turns of go-zero's ring, so that no task runs
// during a benchmark.
func later(r *rand.Rand) time.Duration {
	return time.Duration(ringSlots+r.IntN(5*ringSlots)) * interval
}

// boxed makes n keys, already converted to interfaces, so that benchmarks don't measure
// the conversion.
func boxed(prefix string, n int) []any {
	keys := make([]any, n)
	for i := range keys {
		keys[i] = prefix + strconv.Itoa(i)
	}
	return keys
}

func preloaded(b *testing.B, i implementation, keys []any) wheel {
	w, err := i.wheel(ringSlots, func(_, _ any) {}, nil)
	require.NoError(b, err)
	r := rand.New(rand.NewPCG(1, 2))
	for _, key := range keys {
		require.NoError(b, w.SetTimer(key, nil, later(r)))
	}
	return w
}

// BenchmarkTimers sets, moves and removes a timer while many others are pending.
func BenchmarkTimers(b *testing.B) {
	pending := boxed("pending ", pendingKeys)
	for _, i := range []implementation{goZero, epicycle} {
		b.Run("impl="+i.name, func(b *testing.B) {
			for _, goroutines := range []int{1, 2} {
				w := preloaded(b, i, pending)
				b.Run("goroutines="+strconv.Itoa(goroutines), func(b *testing.B) {
					b.ReportAllocs()
					var all sync.WaitGroup
					for g := range goroutines {
						all.Go(func() { setMoveRemove(b, w, uint64(g), b.N/goroutines) })
					}
					all.Wait()
				})
				w.Stop()
			}
		})
	}
}

func setMoveRemove(b *testing.B, w wheel, seed uint64, n int) {
	keys := boxed("own "+strconv.Itoa(int(seed))+" ", 1000)
	r := rand.New(rand.NewPCG(seed, 0))
	for i := range n {
		key := keys[i%len(keys)]
		if w.SetTimer(key, nil, later(r)) != nil || w.MoveTimer(key, later(r)) != nil || w.RemoveTimer(key) != nil {
			b.Error("refused")
		}
	}
}

// BenchmarkBytes reports the memory of a pending key, without the key itself.
func BenchmarkBytes(b *testing.B) {
	pending := boxed("pending ", pendingKeys)
	for _, i := range []implementation{goZero, epicycle} {
		b.Run("impl="+i.name, func(b *testing.B) {
			var bytes float64
			for range b.N {
				before := inUse()
				w := preloaded(b, i, pending)
				bytes += inUse() - before
				w.Stop()
			}
			b.ReportMetric(bytes/float64(b.N)/pendingKeys, "B/key")
			b.ReportMetric(0, "ns/op")
		})
	}
	runtime.KeepAlive(pending)
}

func inUse() float64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// BenchmarkCache sets one key and gets another. All keys are in the cache.
func BenchmarkCache(b *testing.B) {
	keys := make([]string, cachedKeys)
	for i := range keys {
		keys[i] = "key " + strconv.Itoa(i)
	}
	for _, i := range []implementation{goZero, epicycle} {
		b.Run("impl="+i.name, func(b *testing.B) {
			c, err := i.cache(time.Hour, 0)
			require.NoError(b, err)
			if c, ok := c.(interface{ Close() }); ok {
				defer c.Close() // go-zero's cache has no Close
			}
			for _, key := range keys {
				c.Set(key, key)
			}
			for _, goroutines := range []int{1, 2} {
				b.Run("goroutines="+strconv.Itoa(goroutines), func(b *testing.B) {
					b.ReportAllocs()
					var all sync.WaitGroup
					for g := range goroutines {
						all.Go(func() { setGet(b, c, keys, uint64(g), b.N/goroutines) })
					}
					all.Wait()
				})
			}
		})
	}
}

func setGet(b *testing.B, c cache, keys []string, seed uint64, n int) {
	var value any = "value"
	r := rand.New(rand.NewPCG(seed, 0))
	for range n {
		c.Set(keys[r.IntN(len(keys))], value)
		if _, ok := c.Get(keys[r.IntN(len(keys))]); !ok {
			b.Error("missing")
		}
	}
}
