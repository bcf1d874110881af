package compat_test

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/compat"
)

// After a fetch that does not return, the next call fetches, and no counter has changed.
func TestFetchThatDoesNotReturn(t *testing.T) {
	c, _ := newCache(t, time.Minute)
	require.PanicsWithValue(t, "boom", func() { _, _ = c.Take("a", func() (any, error) { panic("boom") }) })
	var wg sync.WaitGroup
	wg.Go(func() {
		_, _ = c.Take("a", func() (any, error) { runtime.Goexit(); return nil, nil })
	})
	wg.Wait()
	require.Equal(t, compat.CacheStats{}, c.Stats())
	value, err := c.Take("a", func() (any, error) { return 1, nil })
	require.NoError(t, err)
	require.Equal(t, 1, value)
}

// outcome is how a call of Take ended: by returning, by a panic, or by the end of its
// goroutine.
type outcome struct {
	taken
	panicked any
	exited   bool
}

// takeInBubble begins a Take and returns when it waits or has ended.
func takeInBubble(c *compat.Cache, key string, fetch func() (any, error)) <-chan outcome {
	ended := make(chan outcome, 1)
	go func() {
		o := outcome{exited: true}
		defer func() {
			if o.panicked = recover(); o.panicked != nil {
				o.exited = false
			}
			ended <- o
		}()
		value, err := c.Take(key, fetch)
		o = outcome{taken: taken{value, err}}
	}()
	settle()
	return ended
}

// failures has the ways in which a fetch can end without returning.
var failures = map[string]struct {
	end  func()
	want outcome
}{
	"panic":  {func() { panic("boom") }, outcome{panicked: "boom"}},
	"Goexit": {runtime.Goexit, outcome{exited: true}},
}

// The call of Take that called the fetch ends in the same way as the fetch. Calls that
// wait for it return an error: they do not panic or exit, and return no value.
func TestWaitingForAFetchThatDoesNotReturn(t *testing.T) {
	for name, failure := range failures {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, _ := newCache(t, time.Minute, compat.WithLimit(5))
				release := make(chan bool)
				var fetches atomic.Int32
				first := takeInBubble(c, "a", func() (any, error) { fetches.Add(1); <-release; failure.end(); return "never", nil })
				var others []<-chan outcome
				for range 9 {
					others = append(others, takeInBubble(c, "a", func() (any, error) { fetches.Add(1); return "other", nil }))
				}
				close(release)
				require.Equal(t, failure.want, <-first)
				for _, other := range others {
					o := <-other
					require.Nil(t, o.value)
					require.EqualError(t, o.err, "compat: a concurrent fetch of the same key panicked or called runtime.Goexit")
					require.Equal(t, outcome{taken: o.taken}, o)
				}
				require.EqualValues(t, 1, fetches.Load())
				require.Equal(t, compat.CacheStats{}, c.Stats(), "an error is neither a hit nor a miss")

				value, err := c.Take("a", func() (any, error) { return "fetched", nil })
				require.NoError(t, err)
				require.Equal(t, "fetched", value)
				requireValue(t, c, "a", "fetched")
			})
		})
	}
}

// After the key was deleted, another fetch of it is under way. The older fetch does not
// affect it, however it ends.
func TestOlderFetchThatDoesNotReturn(t *testing.T) {
	for name, failure := range failures {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, _ := newCache(t, time.Minute)
				releaseOlder, releaseNewer := make(chan bool), make(chan bool)
				older := takeInBubble(c, "a", func() (any, error) { <-releaseOlder; failure.end(); return "older", nil })
				c.Del("a")
				fetchNewer := func() (any, error) { <-releaseNewer; return "newer", nil }
				newer := takeInBubble(c, "a", fetchNewer)
				close(releaseOlder)
				require.Equal(t, failure.want, <-older)
				another := takeInBubble(c, "a", func() (any, error) { panic("should wait for the newer fetch") })
				close(releaseNewer)
				want := outcome{taken: taken{"newer", nil}}
				require.Equal(t, want, <-newer)
				require.Equal(t, want, <-another)
				requireValue(t, c, "a", "newer")
			})
		})
	}
}

// The stack of a panic is that of the fetch.
func TestStackOfAFetchThatPanics(t *testing.T) {
	c, _ := newCache(t, time.Minute)
	defer func() {
		require.Equal(t, "boom", recover())
		stack := make([]byte, 1<<16)
		require.Contains(t, string(stack[:runtime.Stack(stack, false)]), "fetchAndExplode")
	}()
	_, _ = c.Take("a", fetchAndExplode)
}

//go:noinline
func fetchAndExplode() (any, error) { panic("boom") }
