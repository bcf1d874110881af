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

// fetching is a call of Take. Its fetch, if it has begun, blocks until it is sent its
// results.
type fetching struct {
	returns chan taken // the results of the fetch
	takes   chan taken // the results of Take
}

// take begins a Take, in a bubble. It returns when Take waits for its own fetch or for
// another.
func take(c *compat.Cache, key string, fetches *atomic.Int32) fetching {
	f := fetching{make(chan taken), make(chan taken, 1)}
	go func() {
		value, err := c.Take(key, func() (any, error) {
			fetches.Add(1)
			returned := <-f.returns
			return returned.value, returned.err
		})
		f.takes <- taken{value, err}
	}()
	settle()
	return f
}

func TestTakesOfOneKeyFetchOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := newCache(t, time.Minute)
		var fetches, others atomic.Int32
		all := []fetching{take(c, "a", &fetches)}
		for range 9 {
			all = append(all, take(c, "a", &fetches))
		}
		require.EqualValues(t, 1, fetches.Load())
		other := take(c, "b", &others)
		require.EqualValues(t, 1, others.Load(), "other keys don't wait")
		all[0].returns <- taken{"fetched", nil}
		for _, f := range all {
			require.Equal(t, taken{"fetched", nil}, <-f.takes)
		}
		require.Equal(t, compat.CacheStats{Hits: 9, Misses: 1, Elements: 1}, c.Stats())
		requireValue(t, c, "a", "fetched")
		other.returns <- taken{nil, nil}
		require.Equal(t, taken{nil, nil}, <-other.takes, "nil is a value")
		require.Equal(t, 2, c.Len())
	})
}

func TestTakeThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := newCache(t, time.Minute)
		var fetches atomic.Int32
		down := errors.New("down")
		first, second := take(c, "a", &fetches), take(c, "a", &fetches)
		first.returns <- taken{"half", down}
		require.Equal(t, taken{nil, down}, <-first.takes)
		require.Equal(t, taken{nil, down}, <-second.takes)
		require.Zero(t, c.Len())
		require.Equal(t, compat.CacheStats{}, c.Stats())
		third := take(c, "a", &fetches)
		require.EqualValues(t, 2, fetches.Load())
		third.returns <- taken{"value", nil}
		require.Equal(t, taken{"value", nil}, <-third.takes)
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
				first.returns <- taken{"older", nil}
				require.Equal(t, taken{"older", nil}, <-first.takes)
				require.Equal(t, taken{"older", nil}, <-second.takes)
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
				older.returns <- taken{"older", nil}
				settle()
				requireValue(t, c, "a", nil)
			}
			another := take(c, "a", &fetches)
			require.EqualValues(t, 2, fetches.Load(), "it does not wait for the newer fetch")
			newer.returns <- taken{"newer", nil}
			require.Equal(t, taken{"newer", nil}, <-newer.takes)
			require.Equal(t, taken{"newer", nil}, <-another.takes)
			requireValue(t, c, "a", "newer")
			if !olderFirst {
				older.returns <- taken{"older", nil}
			}
			require.Equal(t, taken{"older", nil}, <-older.takes)
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

// hooked is a mock that calls a function when it is asked for the time. A cache asks
// before it stores a value and before it looks for one.
type hooked struct {
	*clock.Mock
	hook atomic.Pointer[func()]
}

func (h *hooked) Elapsed() time.Duration {
	if hook := h.hook.Load(); hook != nil {
		(*hook)()
	}
	return h.Mock.Elapsed()
}

// A fetch that begins after a Set has begun, and before it has stored its value, does not
// replace that value.
func TestTakeBegunDuringSet(t *testing.T) {
	m := &hooked{Mock: clock.NewMock()}
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
