package callbacks

import (
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
	"github.com/epicycle-go/epicycle/tests/internal/wheeltest"
)

// crowd is more timers than one goroutine gets.
const crowd = 500

// inBubbles runs f in a synctest bubble for each of the executors that get many callbacks at
// once, and run all of a crowd at the same time.
func inBubbles(t *testing.T, f func(t *testing.T, cfg hierarchy.Config)) {
	for _, e := range []hierarchy.Executor{hierarchy.Go, hierarchy.Pool(crowd)} {
		synctest.Test(t, func(t *testing.T) {
			f(t, hierarchy.Config{Clock: clock.System(), Executor: e})
		})
	}
}

// fallDueTogether makes a wheel, sets a crowd of timers with one deadline, and returns when
// that has come.
func fallDueTogether(t *testing.T, cfg hierarchy.Config, f func(i int)) *hierarchy.Wheel {
	w := wheeltest.New(t, cfg)
	for i := range crowd {
		wheeltest.Set(t, w, time.Second, func() { f(i) })
	}
	time.Sleep(time.Second)
	synctest.Wait()
	return w
}

// Callbacks may wait for each other, in any order.
func TestCallbacksOfACrowdWaitForEachOther(t *testing.T) {
	inBubbles(t, func(t *testing.T, cfg hierarchy.Config) {
		var all sync.WaitGroup
		all.Add(crowd)
		fallDueTogether(t, cfg, func(int) {
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
	w := wheeltest.New(t, hierarchy.Config{})
	var others atomic.Int32
	ended := make(chan bool)
	for i := range crowd {
		wheeltest.Set(t, w, 10*time.Millisecond, func() {
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
		inBubbles(t, func(t *testing.T, cfg hierarchy.Config) {
			release := make(chan struct{})
			var ran atomic.Int32
			w := fallDueTogether(t, cfg, func(i int) {
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
	inBubbles(t, func(t *testing.T, cfg hierarchy.Config) {
		var ran atomic.Int32
		w := fallDueTogether(t, cfg, func(i int) {
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
	inBubbles(t, func(t *testing.T, cfg hierarchy.Config) {
		var ran atomic.Int32
		cfg.OnPanic = func(any, []byte) {}
		w := fallDueTogether(t, cfg, func(i int) {
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
	inBubbles(t, func(t *testing.T, cfg hierarchy.Config) {
		var faults, labels atomic.Int32
		fallDueTogether(t, cfg, func(i int) {
			if debug.SetPanicOnFault(true) {
				faults.Add(1)
			}
			if i%10 == 9 && selfLabelled(t) {
				labels.Add(1)
			}
			pprof.SetGoroutineLabels(pprof.WithLabels(t.Context(), pprof.Labels("of", "left-behind")))
		})
		time.Sleep(time.Second)
		require.Zero(t, faults.Load())
		require.Zero(t, labels.Load())
	})
}

// A callback that blocks keeps nothing of those alive that ended.
func TestCrowdThatEndedIsCollected(t *testing.T) {
	inBubbles(t, func(t *testing.T, cfg hierarchy.Config) {
		w := wheeltest.New(t, cfg)
		release := make(chan struct{})
		defer close(release)
		var ended []weak.Pointer[[64]int]
		for i := range 60 {
			held := new([64]int)
			if i != 30 {
				ended = append(ended, weak.Make(held))
			}
			wheeltest.Set(t, w, time.Second, func() {
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

// Channels, sleepers and callbacks of one deadline are all served.
func TestChannelsAmongCallbacks(t *testing.T) {
	inBubbles(t, func(t *testing.T, cfg hierarchy.Config) {
		w := wheeltest.New(t, cfg)
		var ran atomic.Int32
		for range crowd {
			wheeltest.Set(t, w, time.Second, func() { ran.Add(1) })
			c, err := w.After(time.Second)
			require.NoError(t, err)
			go func() {
				<-c
				ran.Add(1)
			}()
		}
		time.Sleep(time.Second)
		synctest.Wait()
		require.EqualValues(t, 2*crowd, ran.Load())
	})
}
