package expiration

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/maypok86/otter/v2"
	"github.com/stretchr/testify/require"
)

// handClock is a clock for both caches.
type handClock struct{ now int64 }

func (c *handClock) NowNano() int64                      { return c.now }
func (c *handClock) Tick(time.Duration) <-chan time.Time { return nil }

// newOtter returns a cache of otter that does all work in the calls, like Cache. Its entries
// live for as long as their values say.
func newOtter(c *handClock, onExpire func(key int, lifetime time.Duration)) *otter.Cache[int, time.Duration] {
	return otter.Must(&otter.Options[int, time.Duration]{
		Clock:    c,
		Executor: func(f func()) { f() },
		ExpiryCalculator: otter.ExpiryWritingFunc(func(e otter.Entry[int, time.Duration]) time.Duration {
			return e.Value
		}),
		OnAtomicDeletion: func(e otter.DeletionEvent[int, time.Duration]) {
			if e.Cause == otter.CauseExpiration {
				onExpire(e.Key, e.Value)
			}
		},
	})
}

// TestLikeOtter runs the same random calls on both. The clock moves by two seconds or more:
// otter's wheel looks for expired entries when 1.07 seconds have begun.
func TestLikeOtter(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		c := &handClock{now: []int64{0, -int64(time.Hour), time.Now().UnixNano()}[seed%3]}
		theirs, ours := map[int]time.Duration{}, map[int]time.Duration{}
		other := newOtter(c, func(key int, lifetime time.Duration) { theirs[key] = lifetime })
		cache := NewCache(c.NowNano, func(key int, lifetime time.Duration) { ours[key] = lifetime })
		for range 2000 {
			key, lifetime := r.IntN(100), time.Duration(1+r.Int64N(int64(3*time.Hour))>>r.IntN(16))
			switch r.IntN(8) {
			case 0, 1, 2:
				other.Set(key, lifetime)
				cache.Set(key, lifetime, lifetime)
			case 3, 4:
				other.SetExpiresAfter(key, lifetime)
				cache.SetExpiresAfter(key, lifetime)
			case 5:
				other.Invalidate(key)
				cache.Invalidate(key)
			case 6:
				c.now += r.Int64N(int64(time.Minute))
			default:
				c.now += int64(2*time.Second + time.Duration(r.Int64N(int64(20*time.Minute))>>r.IntN(12)))
				other.CleanUp()
				cache.CleanUp()
				require.Equal(t, theirs, ours)
				require.Equal(t, other.EstimatedSize(), cache.Len())
				clear(theirs)
				clear(ours)
			}
		}
		other.StopAllGoroutines()
	}
}

// TestBatches checks that CleanUp lets go of the lock after each batch, and expires all.
func TestBatches(t *testing.T) {
	c, expired := &handClock{}, 0
	cache := NewCache(c.NowNano, func(int, int) { expired++ })
	for i := range 2*batch + 1 {
		cache.Set(i, i, time.Duration(i))
	}
	c.now = 2 * batch
	for _, after := range []int{batch, 2 * batch} {
		require.True(t, cache.cleanUpSome())
		require.Equal(t, after, expired)
		require.Equal(t, 2*batch+1-after, cache.Len())
	}
	cache.CleanUp()
	require.Equal(t, 2*batch+1, expired)
	require.Zero(t, cache.Len())
}
