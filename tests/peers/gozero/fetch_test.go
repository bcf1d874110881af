package gozero

import (
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// On both, a fetch that panics or exits its goroutine does so in the call of Take that has
// called it, and no call waits forever. On go-zero, a call that waits returns nil and no
// error, as if nil had been fetched.

func TestFetchThatPanics(t *testing.T) {
	said := inBubbles(t, func(t *testing.T, i implementation) string {
		return unreturned(t, i, func() { panic("boom") })
	})
	require.Equal(t, map[string]string{
		goZero.name:   "its caller: boom, the other: <nil>, <nil>, kept: false",
		epicycle.name: "its caller: boom, the other: <nil>, " + concurrent + ", kept: false",
	}, said)
}

func TestFetchThatExits(t *testing.T) {
	said := inBubbles(t, func(t *testing.T, i implementation) string { return unreturned(t, i, runtime.Goexit) })
	require.Equal(t, map[string]string{
		goZero.name:   "its caller: <nil>, the other: <nil>, <nil>, kept: false",
		epicycle.name: "its caller: <nil>, the other: <nil>, " + concurrent + ", kept: false",
	}, said)
}

const concurrent = "compat: a concurrent fetch of the same key panicked or called runtime.Goexit"

// unreturned describes how a call of Take ends whose fetch ends with end, and what a call
// that waits for it returns.
func unreturned(t *testing.T, i implementation, end func()) string {
	c, err := i.cache(time.Hour, 0)
	require.NoError(t, err)
	var caller, other string
	release := make(chan struct{})
	go func() {
		defer func() { caller = fmt.Sprint(recover()) }()
		_, _ = c.Take("key", func() (any, error) {
			<-release
			end()
			return "never", nil
		})
		panic("Take has returned")
	}()
	synctest.Wait()
	go func() {
		value, err := c.Take("key", func() (any, error) { return "its own", nil })
		other = fmt.Sprintf("%v, %v", value, err)
	}()
	synctest.Wait()
	close(release)
	synctest.Wait()
	_, kept := c.Get("key")
	return fmt.Sprintf("its caller: %s, the other: %s, kept: %v", caller, other, kept)
}
