package hierarchy_test

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

func mustSet(t *testing.T, w *hierarchy.Wheel, d time.Duration, f func()) hierarchy.Timer {
	t.Helper()
	timer, err := w.AfterFunc(d, f)
	require.NoError(t, err)
	return timer
}

// Executors can be called without a wheel, too.
func TestExecutorsWithoutAWheel(t *testing.T) {
	for name, e := range map[string]hierarchy.Executor{
		"Go": hierarchy.Go, "Inline": hierarchy.Inline, "Pool": hierarchy.Pool(1),
	} {
		synctest.Test(t, func(t *testing.T) {
			ran := false
			e(func() { ran = true })
			if name == "Inline" {
				require.True(t, ran, "it runs the task in the call")
			}
			synctest.Wait()
			require.True(t, ran, name)
		})
	}
}

func TestPoolRunsAtMostSoManyAndAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := hierarchy.Pool(3)
		var running, most, ran atomic.Int32
		for range 2 { // two wheels share the pool
			w := newWheel(t, hierarchy.Config{Clock: clock.System(), Executor: pool})
			for range 50 {
				mustSet(t, w, time.Second, func() {
					most.Store(max(most.Load(), running.Add(1)))
					time.Sleep(time.Second)
					running.Add(-1)
					ran.Add(1)
				})
			}
		}
		time.Sleep(time.Minute)
		require.EqualValues(t, 100, ran.Load())
		require.EqualValues(t, 3, most.Load())
	}) // synctest fails if a worker is left
}

func TestPoolBacklogIsInStats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWheel(t, hierarchy.Config{Clock: clock.System(), Executor: hierarchy.Pool(2)})
		release := make(chan struct{})
		for range 10 {
			mustSet(t, w, time.Second, func() { <-release })
		}
		time.Sleep(2 * time.Second)
		st := w.Stats()
		require.Equal(t, 8, st.Queued)
		require.Equal(t, 2, st.Running)
		require.Equal(t, 0, st.Pending)
		require.EqualValues(t, 10, st.Fired)
		close(release)
		require.NoError(t, w.Shutdown(context.Background()))
		st = w.Stats()
		require.Zero(t, st.Queued+st.Running)
	})
}

// A task that exits its goroutine also ends a worker. The pool replaces the worker.
func TestPoolSurvivesGoexit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWheel(t, hierarchy.Config{Clock: clock.System(), Executor: hierarchy.Pool(1)})
		var ran atomic.Int32
		for range 10 {
			mustSet(t, w, time.Second, func() { ran.Add(1); runtime.Goexit() })
		}
		time.Sleep(2 * time.Second)
		require.EqualValues(t, 10, ran.Load())
		require.Zero(t, w.Stats().Running)
	})
}

func TestPoolNeedsWorkers(t *testing.T) {
	for _, n := range []int{0, -1} {
		require.PanicsWithValue(t, "hierarchy: Pool needs at least one worker", func() { hierarchy.Pool(n) })
	}
}

// executors returns the executors to test under a real clock, by name.
func executors() map[string]hierarchy.Executor {
	return map[string]hierarchy.Executor{
		"Go": hierarchy.Go, "Inline": hierarchy.Inline, "Pool": hierarchy.Pool(2),
		"own": func(task func()) { go task() },
	}
}

// Callbacks that panic or exit their goroutine do not affect other timers.
func TestCallbacksThatPanicOrExit(t *testing.T) {
	for name, executor := range executors() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				var panics []any
				w := newWheel(t, hierarchy.Config{Clock: clock.System(), Executor: executor,
					OnPanic: func(v any, stack []byte) {
						mu.Lock()
						defer mu.Unlock()
						panics = append(panics, v)
						require.Contains(t, string(stack), "TestCallbacksThatPanicOrExit")
					}})
				var ran atomic.Int32
				for i := range 30 {
					mustSet(t, w, time.Second, func() {
						ran.Add(1)
						switch i % 3 {
						case 0:
							panic(i)
						case 1:
							runtime.Goexit()
						}
					})
				}
				time.Sleep(2 * time.Second)
				require.EqualValues(t, 30, ran.Load())
				synctest.Wait()
				mu.Lock()
				require.Len(t, panics, 10)
				mu.Unlock()
				st := w.Stats()
				require.EqualValues(t, 10, st.Panics)
				require.Zero(t, st.Running+st.Queued)
				require.NoError(t, w.Shutdown(context.Background()))
			})
		})
	}
}

func TestBlockedCallbackHarmsNoOther(t *testing.T) {
	for _, name := range []string{"Go", "Pool", "own"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWheel(t, hierarchy.Config{Clock: clock.System(), Executor: executors()[name]})
				release := make(chan struct{})
				mustSet(t, w, time.Second, func() { <-release })
				at := make(chan time.Duration, 1)
				start := time.Now()
				mustSet(t, w, 2*time.Second, func() { at <- time.Since(start) })
				require.Equal(t, 2*time.Second, <-at)
				close(release)
			})
		})
	}
}

// Without OnPanic, a panic is not recovered. Here it reaches the caller of the mock, and
// the wheel still works afterwards.
func TestPanicWithoutOnPanicReachesTheMover(t *testing.T) {
	m := clock.NewMock()
	w := newWheel(t, hierarchy.Config{Clock: m})
	ran := 0
	for range 2 {
		mustSet(t, w, time.Second, func() { panic("boom") })
		mustSet(t, w, time.Second, func() { ran++ })
	}
	require.PanicsWithValue(t, "boom", func() { m.Add(time.Second) })
	require.PanicsWithValue(t, "boom", func() { m.Add(0) })
	m.Add(0)
	require.Equal(t, 2, ran)
	require.Zero(t, w.Stats().Running)
	require.EqualValues(t, 4, w.Stats().Fired)
}

// Callbacks of Inline never overlap, for any number of shards.
func TestInlineNeverOverlaps(t *testing.T) {
	w := newWheel(t, hierarchy.Config{Clock: clock.System(), Executor: hierarchy.Inline, Shards: 4})
	var inside, overlaps, ran atomic.Int32
	var set sync.WaitGroup
	for range 8 {
		set.Go(func() {
			for range 500 {
				_, err := w.AfterFunc(time.Millisecond, func() {
					if inside.Add(1) > 1 {
						overlaps.Add(1)
					}
					runtime.Gosched()
					inside.Add(-1)
					ran.Add(1)
				})
				if err != nil {
					panic(err)
				}
			}
		})
	}
	set.Wait()
	require.Eventually(t, func() bool { return ran.Load() == 4000 }, time.Minute, time.Millisecond)
	require.Zero(t, overlaps.Load())
}
