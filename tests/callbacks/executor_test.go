package callbacks

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
	"github.com/epicycle-go/epicycle/tests/internal/wheeltest"
)

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
			w := wheeltest.New(t, hierarchy.Config{Clock: clock.System(), Executor: pool})
			for range 50 {
				wheeltest.Set(t, w, time.Second, func() {
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
		w := wheeltest.New(t, hierarchy.Config{Clock: clock.System(), Executor: hierarchy.Pool(2)})
		release := make(chan struct{})
		for range 10 {
			wheeltest.Set(t, w, time.Second, func() { <-release })
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
		w := wheeltest.New(t, hierarchy.Config{Clock: clock.System(), Executor: hierarchy.Pool(1)})
		var ran atomic.Int32
		for range 10 {
			wheeltest.Set(t, w, time.Second, func() { ran.Add(1); runtime.Goexit() })
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

// Callbacks that panic or exit their goroutine do not affect other timers.
func TestCallbacksThatPanicOrExit(t *testing.T) {
	for name, executor := range wheeltest.Executors() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				var panics []any
				w := wheeltest.New(t, hierarchy.Config{Clock: clock.System(), Executor: executor,
					OnPanic: func(v any, stack []byte) {
						mu.Lock()
						defer mu.Unlock()
						panics = append(panics, v)
						require.Contains(t, string(stack), "TestCallbacksThatPanicOrExit")
					}})
				var ran atomic.Int32
				for i := range 30 {
					wheeltest.Set(t, w, time.Second, func() {
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
				w := wheeltest.New(t, hierarchy.Config{Clock: clock.System(), Executor: wheeltest.Executors()[name]})
				release := make(chan struct{})
				wheeltest.Set(t, w, time.Second, func() { <-release })
				at := make(chan time.Duration, 1)
				start := time.Now()
				wheeltest.Set(t, w, 2*time.Second, func() { at <- time.Since(start) })
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
	w := wheeltest.New(t, hierarchy.Config{Clock: m})
	ran := 0
	for range 2 {
		wheeltest.Set(t, w, time.Second, func() { panic("boom") })
		wheeltest.Set(t, w, time.Second, func() { ran++ })
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
	w := wheeltest.New(t, hierarchy.Config{Clock: clock.System(), Executor: hierarchy.Inline, Shards: 4})
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

func TestPoolWithoutATask(t *testing.T) {
	require.PanicsWithError(t, "hierarchy: a Pool was given a nil task", func() { hierarchy.Pool(1)(nil) })
}

// A pool runs the tasks of wheels of any kind, and those that others give it, one after the
// other as they came. Those of one wheel come in order of deadline.
func TestPoolKeepsOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := hierarchy.Config{
			Clock: clock.System(), Executor: hierarchy.Pool(1), Precision: time.Millisecond, Shards: 4,
		}
		var order []int
		note := func(i int) { order = append(order, i) }
		first := wheeltest.New(t, cfg)
		second, err := hierarchy.NewKeyed(cfg, func(_, v int) { note(v) })
		require.NoError(t, err)
		defer second.Stop()
		for i := range 100 {
			wheeltest.Set(t, first, time.Second, func() { note(i) })
			require.NoError(t, second.Set(i, 100+i, 2*time.Second+time.Duration(i)))
		}
		release := make(chan struct{})
		cfg.Executor(func() { <-release })
		time.Sleep(3 * time.Second)
		cfg.Executor(func() { note(200) })
		close(release)
		synctest.Wait()
		require.Len(t, order, 201)
		for i, came := range order {
			require.Equal(t, i, came)
		}
	})
}
