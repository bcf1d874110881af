package compat_test

import (
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/compat"
)

// taken is what a Take has returned.
type taken struct {
	value any
	err   error
}

// takeCall is a call of Take. Its fetch, if it has begun, blocks until the test sends its
// result.
type takeCall struct {
	fetchResult chan taken
	takeResult  chan taken
}

// take begins a Take, in a bubble. It returns when Take waits for its own fetch or for
// another.
func take(c *compat.Cache, key string, fetches *atomic.Int32) takeCall {
	f := takeCall{make(chan taken), make(chan taken, 1)}
	go func() {
		value, err := c.Take(key, func() (any, error) {
			fetches.Add(1)
			returned := <-f.fetchResult
			return returned.value, returned.err
		})
		f.takeResult <- taken{value, err}
	}()
	settle()
	return f
}

func TestTakesOfOneKeyFetchOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := newCache(t, time.Minute)
		var fetches, others atomic.Int32
		all := []takeCall{take(c, "a", &fetches)}
		for range 9 {
			all = append(all, take(c, "a", &fetches))
		}
		require.EqualValues(t, 1, fetches.Load())
		other := take(c, "b", &others)
		require.EqualValues(t, 1, others.Load(), "other keys don't wait")
		all[0].fetchResult <- taken{"fetched", nil}
		for _, f := range all {
			require.Equal(t, taken{"fetched", nil}, <-f.takeResult)
		}
		require.Equal(t, compat.CacheStats{Hits: 9, Misses: 1, Elements: 1}, c.Stats())
		requireValue(t, c, "a", "fetched")
		other.fetchResult <- taken{nil, nil}
		require.Equal(t, taken{nil, nil}, <-other.takeResult, "nil is a value")
		require.Equal(t, 2, c.Len())
	})
}

func TestTakeThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := newCache(t, time.Minute)
		var fetches atomic.Int32
		down := errors.New("down")
		first, second := take(c, "a", &fetches), take(c, "a", &fetches)
		first.fetchResult <- taken{"half", down}
		require.Equal(t, taken{nil, down}, <-first.takeResult)
		require.Equal(t, taken{nil, down}, <-second.takeResult)
		require.Zero(t, c.Len())
		require.Equal(t, compat.CacheStats{}, c.Stats())
		third := take(c, "a", &fetches)
		require.EqualValues(t, 2, fetches.Load())
		third.fetchResult <- taken{"value", nil}
		require.Equal(t, taken{"value", nil}, <-third.takeResult)
	})
}

func TestTakeAfterExpiry(t *testing.T) {
	c, m := newCache(t, time.Minute)
	fetches := 0
	for range 3 {
		for range 3 {
			_, err := c.Take("a", func() (any, error) { fetches++; return fetches, nil })
			require.NoError(t, err)
		}
		requireValue(t, c, "a", fetches)
		m.Add(time.Hour)
	}
	require.Equal(t, 3, fetches)
}

// If a key is set or deleted while it is fetched, the fetched value may be older than that
// change: it is returned to the calls that wait, and not kept.
func TestChangeDuringFetch(t *testing.T) {
	for name, change := range map[string]struct {
		do   func(c *compat.Cache)
		then any
	}{
		"Del":           {func(c *compat.Cache) { c.Del("a") }, nil},
		"Set":           {func(c *compat.Cache) { c.Set("a", "newer") }, "newer"},
		"SetWithExpire": {func(c *compat.Cache) { c.SetWithExpire("a", "newer", time.Hour) }, "newer"},
		"Set and Del":   {func(c *compat.Cache) { c.Set("a", "newer"); c.Del("a") }, nil},
		"Close":         {func(c *compat.Cache) { c.Close() }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, _ := newCache(t, time.Minute, compat.WithLimit(5))
				var fetches atomic.Int32
				first, second := take(c, "a", &fetches), take(c, "a", &fetches)
				require.EqualValues(t, 1, fetches.Load())
				change.do(c)
				first.fetchResult <- taken{"older", nil}
				require.Equal(t, taken{"older", nil}, <-first.takeResult)
				require.Equal(t, taken{"older", nil}, <-second.takeResult)
				requireValue(t, c, "a", change.then)
			})
		})
	}
}

// A call after the change fetches again, and that value is kept, whichever fetch ends
// first.
func TestTakeAfterChangeDuringFetch(t *testing.T) {
	for _, olderFirst := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			c, _ := newCache(t, time.Minute)
			var fetches atomic.Int32
			older := take(c, "a", &fetches)
			c.Del("a")
			newer := take(c, "a", &fetches)
			require.EqualValues(t, 2, fetches.Load(), "it waits for the older fetch")
			if olderFirst {
				older.fetchResult <- taken{"older", nil}
				settle()
				requireValue(t, c, "a", nil)
			}
			another := take(c, "a", &fetches)
			require.EqualValues(t, 2, fetches.Load(), "it does not wait for the newer fetch")
			newer.fetchResult <- taken{"newer", nil}
			require.Equal(t, taken{"newer", nil}, <-newer.takeResult)
			require.Equal(t, taken{"newer", nil}, <-another.takeResult)
			requireValue(t, c, "a", "newer")
			if !olderFirst {
				older.fetchResult <- taken{"older", nil}
			}
			require.Equal(t, taken{"older", nil}, <-older.takeResult)
			requireValue(t, c, "a", "newer")
		})
	}
}

// The fetch may use the cache, also for its own key: a value that it sets is newer than
// the one it returns.
func TestFetchUsesTheCache(t *testing.T) {
	c, _ := newCache(t, time.Minute, compat.WithLimit(3))
	value, err := c.Take("a", func() (any, error) {
		c.Set("b", 1)
		c.Set("a", "set inside")
		return c.Take("c", func() (any, error) { c.Del("b"); return "nested", nil })
	})
	require.NoError(t, err)
	require.Equal(t, "nested", value)
	requireValue(t, c, "a", "set inside")
	requireValue(t, c, "b", nil)
	requireValue(t, c, "c", "nested")
}

// A fetched value is in the cache shortly before Take returns it. If it is deleted in
// between, the next Take must not return it.
func TestTakeJustAfterDel(t *testing.T) {
	c, _ := newCache(t, time.Minute)
	for range 20_000 {
		c.Del("a")
		done := make(chan bool)
		go func() {
			defer close(done)
			_, _ = c.Take("a", func() (any, error) { return "older", nil })
		}()
		for c.Len() == 0 {
			runtime.Gosched()
		}
		c.Del("a")
		value, err := c.Take("a", func() (any, error) { return "newer", nil })
		require.NoError(t, err)
		require.Equal(t, "newer", value)
		<-done
	}
}

// hookedClock is a mock that calls a function when its time is read. A cache reads it before
// it stores a value and before it looks for one.
type hookedClock struct {
	*clock.Mock
	hook atomic.Pointer[func()]
}

func (h *hookedClock) Elapsed() time.Duration {
	if hook := h.hook.Load(); hook != nil {
		(*hook)()
	}
	return h.Mock.Elapsed()
}

// A fetch that begins after a Set has begun, and before it has stored its value, does not
// replace that value.
func TestTakeBegunDuringSet(t *testing.T) {
	m := &hookedClock{Mock: clock.NewMock()}
	c, err := compat.NewCache(time.Minute, compat.WithClock(m))
	require.NoError(t, err)
	defer c.Close()

	begun, release, done := make(chan bool, 1), make(chan bool), make(chan bool)
	inside := func() {
		m.hook.Store(nil)
		go func() {
			defer close(done)
			_, _ = c.Take("a", func() (any, error) { begun <- true; <-release; return "fetched", nil })
		}()
		for range 10_000 { // gives the fetch time to begin, if it can
			runtime.Gosched()
		}
	}
	m.hook.Store(&inside)
	c.Set("a", "set")
	close(release)
	<-done
	requireValue(t, c, "a", "set")
}
