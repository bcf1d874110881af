package engine

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/internal/handclock"
)

// afterwards is a deadline that is too far from 10 for a wheel to stay awake for it.
const afterwards = 10 + 2*armCost

// leaving makes a wheel of Go whose rounds leave the callback of a lone timer to the goroutine of the ring.
func leaving() (*Core[func()], *handclock.Clock) {
	clk := &handclock.Clock{HasThen: true}
	return newWheel(inGoroutines(clk, 2)), clk
}

// ringAt rings the alarm at a time, up to where the goroutine of the ring would call what the round has left.
func ringAt(clk *handclock.Clock, at int64) {
	clk.Time.Store(at)
	clk.Disarm()
	clk.Ring()
}

// shutdownNow stops the wheel. It returns context.Canceled if Shutdown would wait, and nil otherwise.
func shutdownNow(c *Core[func()]) error {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return c.Shutdown(ctx)
}

// The callback of a lone timer is called after the ring, by the goroutine of the ring. By then the alarm is aimed.
func TestLoneCallbackIsLeft(t *testing.T) {
	c, clk := leaving()
	called := 0
	after(c, 10, func() { called++ })
	after(c, time.Hour, nop)
	ringAt(clk, 10)
	require.Zero(t, called)
	clk.RequireAim(t, int64(time.Hour))
	queued, running := c.inFlight.count()
	require.Equal(t, []int{1, 0}, []int{queued, running})

	clk.Left()
	require.Equal(t, 1, called)
	require.True(t, c.inFlight.none())
	clk.Left() // nothing is left
	require.Equal(t, 1, called)
	c.Stop()
}

// So are callbacks of timers that fall due together, unless there are so many that a turn ends before.
func TestCallbacksThatAreDueTogetherAreLeft(t *testing.T) {
	c, clk := leaving()
	const n = yieldEvery + 3
	var called atomic.Int32
	for range n {
		setOn(c, 0, 10, func() { called.Add(1) })
	}
	after(c, time.Hour, nop)
	ringAt(clk, 10)
	clk.RequireAim(t, int64(time.Hour))
	for called.Load() < yieldEvery { // in another goroutine
		runtime.Gosched()
	}
	require.EqualValues(t, yieldEvery, called.Load())
	clk.Left()
	require.NoError(t, c.Shutdown(t.Context()))
	require.EqualValues(t, n, called.Load())
}

// No callback that was left waits for one that was left with it.
func TestLeftCallbacksDoNotWaitForEachOther(t *testing.T) {
	c, clk := leaving()
	const n = 5
	met := make(chan bool)
	for i := range n {
		after(c, 10, func() {
			if i == 0 {
				for range n - 1 {
					met <- true
				}
			} else {
				<-met
			}
		})
	}
	ringAt(clk, 10)
	clk.Left()
	require.NoError(t, c.Shutdown(t.Context()))
}

// A round that begins before what the last one has left passes it on, so that it waits for no round.
func TestNextRoundPassesOnWhatWasLeft(t *testing.T) {
	for n := range 3 {
		passOn(t, 1+n)
	}
}

// passOn makes a round pass on n callbacks that the round before has left.
func passOn(t *testing.T, n int) {
	c, clk := leaving()
	calls, release := make(chan string), make(chan bool)
	for range n {
		after(c, 10, func() { calls <- "first" })
	}
	after(c, afterwards, func() { calls <- "second" })
	_, err := c.Add(func() { <-release }, c.Now(), afterwards, RunInWake) // the second round takes long
	require.NoError(t, err)
	ringAt(clk, 10)
	require.NotNil(t, clk.Left)
	ended := make(chan bool)
	go func() {
		ringAt(clk, afterwards)
		close(ended)
	}()
	for range n {
		require.Equal(t, "first", <-calls)
	}
	close(release)
	<-ended
	go clk.Left()
	require.Equal(t, "second", <-calls)
	require.NoError(t, c.Shutdown(t.Context()))
	clk.Left()
}

// A callback that was left and blocks holds up nothing else.
func TestLeftCallbackThatBlocks(t *testing.T) {
	c, clk := leaving()
	release := make(chan bool)
	var ended atomic.Int32
	for at := int64(10); at <= 50; at += 10 {
		began := make(chan bool)
		setOn(c, 0, at, func() {
			close(began)
			<-release
			ended.Add(1)
		})
		ringAt(clk, at)
		go clk.Left()
		<-began
	}
	_, running := c.inFlight.count()
	require.Equal(t, 5, running)
	close(release)
	require.NoError(t, c.Shutdown(t.Context()))
	require.EqualValues(t, 5, ended.Load())
}

// Shutdown waits for a callback that was left, from the end of its round on.
func TestShutdownWaitsForALeftCallback(t *testing.T) {
	c, clk := leaving()
	called := false
	after(c, 10, func() {
		called = true
		require.ErrorIs(t, shutdownNow(c), context.Canceled)
	})
	ringAt(clk, 10)
	require.ErrorIs(t, shutdownNow(c), context.Canceled)
	clk.Left()
	require.True(t, called, "also if the wheel was stopped")
	require.NoError(t, shutdownNow(c))
}

// A callback that was left may exit its goroutine or panic.
func TestLeftCallbackThatEnds(t *testing.T) {
	for name, end := range map[string]func(){"exits": runtime.Goexit, "panics": func() { panic("a callback's") }} {
		for _, recovers := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				clk := &handclock.Clock{HasThen: true}
				cfg := inGoroutines(clk, 1)
				if recovers {
					cfg.OnPanic = func(any, []byte) {}
				}
				c := newWheel(cfg)
				after(c, 10, end)
				ringAt(clk, 10)
				returned := inGoroutine(clk.Left)
				require.Equal(t, recovers && name == "panics", returned)
				require.NoError(t, shutdownNow(c))
			})
		}
	}
}

// inGoroutine calls f in a goroutine, and waits until that has ended. It reports whether f has returned.
func inGoroutine(f func()) (returned bool) {
	var ended sync.WaitGroup
	ended.Go(func() {
		defer func() { _ = recover() }()
		f()
		returned = true
	})
	ended.Wait()
	return returned
}

// A callback that was left does not run on a thread that a callback of the round has locked. If it leaves its own
// goroutine locked, that ends.
func TestLeftCallbackAndLockedThreads(t *testing.T) {
	c, clk := leaving()
	called := make(chan bool, 1)
	setOn(c, 0, 10, func() { called <- true })
	setOn(c, 0, afterwards, func() { runtime.LockOSThread() })
	require.True(t, inGoroutine(func() {
		ringAt(clk, 10)
		runtime.LockOSThread()
		clk.Left()
		require.NoError(t, c.inFlight.wait(t.Context()))
		require.True(t, <-called)
	}))
	ringAt(clk, afterwards)
	require.False(t, inGoroutine(clk.Left))
	require.NoError(t, shutdownNow(c))
}

// Each callback is called once while the goroutine of a ring and the next round compete for what was left.
func TestLeftCallbacksAreCalledOnce(t *testing.T) {
	c, clk := leaving()
	var rings sync.WaitGroup
	const n = 2000
	var calls [n]atomic.Int32
	for i := range n {
		setOn(c, i&1, int64(1+i-i%3%2)*10_000, func() { calls[i].Add(1) }) // alone, or two together
	}
	for i := range n {
		ringAt(clk, int64(1+i)*10_000)
		rings.Go(clk.Left)
	}
	rings.Wait()
	require.NoError(t, c.Shutdown(t.Context()))
	for i := range calls {
		require.EqualValues(t, 1, calls[i].Load())
	}
}
