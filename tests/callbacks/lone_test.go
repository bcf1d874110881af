package callbacks

import (
	"context"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/tests/internal/wheeltest"
)

// The callback of a timer that is due alone runs in the goroutine that the runtime has started for the clock. Whatever
// it does there, the timers after it are on time, and Shutdown waits for it.
func TestLoneCallbacksHoldUpNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 100
		w := wheeltest.OnSystem(t, hierarchy.Config{OnPanic: func(any, []byte) {}})
		release := make(chan bool)
		start, at := time.Now(), make([]time.Duration, n)
		for i := range n {
			wheeltest.Set(t, w, time.Duration(1+i)*time.Second, func() {
				at[i] = time.Since(start)
				switch i % 4 {
				case 0:
					<-release
				case 1:
					runtime.Goexit()
				case 2:
					panic("a callback's")
				case 3:
					wheeltest.Set(t, w, time.Second/2, func() { <-release })
				}
			})
		}
		time.Sleep((n + 1) * time.Second)
		synctest.Wait()
		for i := range n {
			require.Equal(t, time.Duration(1+i)*time.Second, at[i])
		}
		require.Equal(t, n/2, w.Stats().Running)
		require.Zero(t, w.Stats().Queued)

		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		require.ErrorIs(t, w.Shutdown(ctx), context.DeadlineExceeded)
		close(release)
		require.NoError(t, w.Shutdown(t.Context()))
		require.Zero(t, w.Stats().Running)
	})
}

// A lone callback finds nothing that a callback of AfterInline has left in the goroutine of the ring.
func TestGoroutineOfALoneCallbackIsAsNew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wheeltest.OnSystem(t, hierarchy.Config{})
		_, err := w.AfterInline(time.Second, func(time.Time) {
			debug.SetPanicOnFault(true)
			pprof.SetGoroutineLabels(pprof.WithLabels(t.Context(), pprof.Labels("of", "left-behind")))
		})
		require.NoError(t, err)
		var faults, label bool
		wheeltest.Set(t, w, time.Second, func() { faults, label = debug.SetPanicOnFault(false), selfLabelled(t) })
		time.Sleep(2 * time.Second)
		synctest.Wait()
		require.False(t, faults)
		require.False(t, label)
	})
}

// Each callback runs once while rings follow one another so closely that some begin before the callback of the last
// one, whatever the callbacks do.
func TestLoneCallbacksThatFollowOneAnother(t *testing.T) {
	for _, c := range []clock.Clock{clock.System(), clock.Precise(), clock.Spinning(10 * time.Microsecond)} {
		w := wheeltest.New(t, hierarchy.Config{Clock: c, Precision: 1, OnPanic: func(any, []byte) {}})
		const n = 2000
		var runs [n]atomic.Int32
		var all sync.WaitGroup
		all.Add(n)
		for i := range n {
			wheeltest.Set(t, w, time.Millisecond+time.Duration(i)*(20*time.Microsecond), func() {
				defer all.Done()
				runs[i].Add(1)
				switch rand.N(4) {
				case 0:
					time.Sleep(time.Duration(rand.N(100)) * time.Microsecond)
				case 1:
					runtime.Goexit()
				case 2:
					panic("a callback's")
				}
			})
		}
		all.Wait()
		require.NoError(t, w.Shutdown(t.Context()))
		for i := range runs {
			require.EqualValues(t, 1, runs[i].Load())
		}
	}
}
