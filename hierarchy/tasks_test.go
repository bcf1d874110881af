package hierarchy_test

import (
	"bytes"
	"context"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// crowd is more timers than one goroutine gets.
const crowd = 500

// fallDueTogether makes a wheel with Go, sets a crowd of timers with one deadline, and returns
// when that has come. It is for synctest bubbles.
func fallDueTogether(t *testing.T, cfg hierarchy.Config, f func(i int)) *hierarchy.Wheel {
	cfg.Clock, cfg.Executor = clock.System(), hierarchy.Go
	w := newWheel(t, cfg)
	for i := range crowd {
		mustSet(t, w, time.Second, func() { f(i) })
	}
	time.Sleep(time.Second)
	synctest.Wait()
	return w
}

// Callbacks may wait for each other, in any order.
func TestCallbacksOfACrowdWaitForEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all sync.WaitGroup
		all.Add(crowd)
		fallDueTogether(t, hierarchy.Config{}, func(int) {
			all.Done()
			all.Wait()
		})
		all.Wait()
	})
}

// A callback that computes for long, and gives its processor to nobody, keeps no other waiting
// while there is another processor.
func TestCallbackOfACrowdThatSpins(t *testing.T) {
	if runtime.GOMAXPROCS(0) == 1 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	}
	w := newWheel(t, hierarchy.Config{})
	var others atomic.Int32
	ended := make(chan bool)
	for i := range crowd {
		mustSet(t, w, 10*time.Millisecond, func() {
			if i > 0 {
				others.Add(1)
				return
			}
			for others.Load() < crowd-1 {
			}
			close(ended)
		})
	}
	<-ended
}

// What has ended is not counted as queued while other callbacks block.
func TestStatsOfACrowdThatBlocks(t *testing.T) {
	for _, blocking := range []int{1, 7, 63, 64, 100} {
		synctest.Test(t, func(t *testing.T) {
			release := make(chan struct{})
			var ran atomic.Int32
			w := fallDueTogether(t, hierarchy.Config{}, func(i int) {
				ran.Add(1)
				if i%blocking == blocking-1 {
					<-release
				}
			})
			require.EqualValues(t, crowd, ran.Load())
			st := w.Stats()
			require.EqualValues(t, crowd, st.Fired)
			require.Equal(t, 0, st.Queued)
			require.Equal(t, crowd/blocking, st.Running)
			close(release)
			require.NoError(t, w.Shutdown(t.Context()))
			require.Zero(t, w.Stats().Running)
		})
	}
}

// Shutdown waits for all callbacks of a crowd, and for none that have ended.
func TestShutdownWaitsForACrowd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ran atomic.Int32
		w := fallDueTogether(t, hierarchy.Config{}, func(i int) {
			time.Sleep(time.Duration(i%3) * time.Hour)
			ran.Add(1)
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour+1)
		defer cancel()
		require.ErrorIs(t, w.Shutdown(ctx), context.DeadlineExceeded)
		require.NoError(t, w.Shutdown(t.Context()))
		require.EqualValues(t, crowd, ran.Load())
	})
}

// A callback that exits its goroutine or panics takes no other with it.
func TestCallbacksOfACrowdThatFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ran atomic.Int32
		w := fallDueTogether(t, hierarchy.Config{OnPanic: func(any, []byte) {}}, func(i int) {
			ran.Add(1)
			switch i % 3 {
			case 0:
				runtime.Goexit()
			case 1:
				panic("a callback's")
			}
		})
		require.EqualValues(t, crowd, ran.Load())
		st := w.Stats()
		require.Zero(t, st.Queued)
		require.Zero(t, st.Running)
		require.EqualValues(t, (crowd+1)/3, st.Panics)
		require.NoError(t, w.Shutdown(t.Context()))
	})
}

// A callback finds nothing that another has left in its goroutine.
func TestGoroutinesOfACrowdAreAsNew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var faults, labels atomic.Int32
		fallDueTogether(t, hierarchy.Config{}, func(i int) {
			if debug.SetPanicOnFault(true) {
				faults.Add(1)
			}
			if i == crowd-1 {
				var all bytes.Buffer
				_ = pprof.Lookup("goroutine").WriteTo(&all, 1)
				if bytes.Contains(all.Bytes(), []byte("left-behind")) {
					labels.Add(1)
				}
			}
			pprof.SetGoroutineLabels(pprof.WithLabels(t.Context(), pprof.Labels("of", "left-behind")))
		})
		require.Zero(t, faults.Load())
		require.Zero(t, labels.Load())
	})
}

// A callback that blocks keeps nothing of those alive that ended.
func TestCrowdThatEndedIsCollected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWheel(t, hierarchy.Config{Clock: clock.System()})
		release := make(chan struct{})
		defer close(release)
		var ended []weak.Pointer[[64]int]
		for i := range 60 {
			held := new([64]int)
			if i != 30 {
				ended = append(ended, weak.Make(held))
			}
			mustSet(t, w, time.Second, func() {
				if held[0]++; i == 30 {
					<-release
				}
			})
		}
		time.Sleep(time.Second)
		synctest.Wait()
		runtime.GC()
		for _, p := range ended {
			require.Nil(t, p.Value())
		}
	})
}
