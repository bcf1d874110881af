package main

import (
	"testing"
	"time"

	"github.com/maypok86/otter/v2"

	"github.com/epicycle-go/epicycle/tests/peers/driven/expiration"
)

// cacheClock is a clock for otter. It does not tick: CleanUp is called instead.
type cacheClock struct{ now int64 }

func (c *cacheClock) NowNano() int64                      { return c.now }
func (c *cacheClock) Tick(time.Duration) <-chan time.Time { return nil }

// caching is what caches have in common. Their values are lifetimes.
type caching struct {
	*cacheClock
	expired *int
}

func newCaching() caching { return caching{&cacheClock{lifeStart}, new(int)} }

// otterCache is a cache of otter without a maximum size.
type otterCache struct {
	caching
	*otter.Cache[int, time.Duration]
}

func openOtter(b *testing.B) expirer {
	s := otterCache{caching: newCaching()}
	s.Cache = otter.Must(&otter.Options[int, time.Duration]{
		Clock: s.cacheClock,
		ExpiryCalculator: otter.ExpiryWritingFunc(func(e otter.Entry[int, time.Duration]) time.Duration {
			return e.Value
		}),
		OnAtomicDeletion: func(otter.DeletionEvent[int, time.Duration]) { *s.expired++ },
	})
	b.Cleanup(func() { s.StopAllGoroutines() })
	return s
}

func (s otterCache) set(i int, at int64)       { s.Set(i, time.Duration(at-s.now)) }
func (s otterCache) update(i int, _, to int64) { s.SetExpiresAfter(i, time.Duration(to-s.now)) }
func (s otterCache) settle()                   { s.CleanUp() }
func (s otterCache) expire(now int64) int {
	s.now, *s.expired = now, 0
	s.CleanUp()
	return *s.expired
}

// drivenCache is a map with a lock and a Driven.
type drivenCache struct {
	caching
	*expiration.Cache[int, time.Duration]
}

func openDrivenCache(*testing.B) expirer {
	s := drivenCache{caching: newCaching()}
	s.Cache = expiration.NewCache(s.NowNano, func(int, time.Duration) { *s.expired++ })
	return s
}

func (s drivenCache) set(i int, at int64) {
	lifetime := time.Duration(at - s.now)
	s.Set(i, lifetime, lifetime)
}

func (s drivenCache) update(i int, _, to int64) { s.SetExpiresAfter(i, time.Duration(to-s.now)) }
func (s drivenCache) settle()                   {}
func (s drivenCache) expire(now int64) int {
	s.now, *s.expired = now, 0
	s.CleanUp()
	return *s.expired
}

// BenchmarkCacheLife sets n keys, changes the lifetime of each once and lets them expire,
// with a clean-up every two seconds. otter's wheel is not open to others, so this is the
// work of a whole cache.
func BenchmarkCacheLife(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		for _, s := range []struct {
			name string
			open func(b *testing.B) expirer
		}{{"otter", openOtter}, {"driven", openDrivenCache}} {
			sub(b, s.name, n, func(b *testing.B) {
				benchmarkLife(b, livesAnywhere(n), 2*time.Second, func() expirer { return s.open(b) })
			})
		}
	}
}
