package gozero

import (
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// On both, a fetch that panics or exits its goroutine does that to the call of Take that
// has called it, and nobody waits for ever. On go-zero, a call that waits gets nil as
// if that had been fetched.

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

// unreturned says what a call of Take gets whose fetch ends so, and one that waits for it.
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
		panic("it has returned")
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
