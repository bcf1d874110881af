package serial

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// Calls never overlap, and a Run that comes while F runs is followed by another call.
func TestCallsDoNotOverlap(t *testing.T) {
	var running, calls, asked atomic.Int32
	seen := int32(0) // of asked, by the last call; not atomic, as calls do not overlap
	var c Call
	c.F = func() {
		if running.Add(1) > 1 {
			t.Error("two calls at once")
		}
		seen = asked.Load()
		calls.Add(1)
		runtime.Gosched()
		running.Add(-1)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 1000 {
				asked.Add(1)
				c.Run()
			}
		})
	}
	all.Wait()
	require.EqualValues(t, 8000, seen, "a call begins after the last Run")
	require.LessOrEqual(t, calls.Load(), int32(8000))
}

// A call that exits its goroutine, while another was asked for, does not lose that.
func TestCallThatExits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		var c Call
		c.F = func() {
			if calls++; calls == 1 {
				c.Run()
				runtime.Goexit()
			}
		}
		go c.Run()
		synctest.Wait()
		require.Equal(t, 2, calls)
		c.Run()
		require.Equal(t, 3, calls)
	})
}
