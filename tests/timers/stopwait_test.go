package timers

import (
	"context"
	"math/rand/v2"
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

// stopWait calls StopWait in a goroutine.
func stopWait(ctx context.Context, timer *hierarchy.FuncTimer) (done func() bool, err *error) {
	err, ended := new(error), atomic.Bool{}
	go func() {
		*err = timer.StopWait(ctx)
		ended.Store(true)
	}()
	return ended.Load, err
}

// StopWait waits for every run, as Reset while f runs starts f again.
func TestStopWaitWaitsForAllRuns(t *testing.T) {
	for _, name := range []string{"Go", "Pool", "own"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := wheeltest.OnSystem(t, hierarchy.Config{Executor: wheeltest.Executors()[name]})
				running := 0
				var mu sync.Mutex
				add := func(n int) { mu.Lock(); running += n; mu.Unlock() }
				timer := newFunc(t, w, func() { add(1); time.Sleep(time.Minute); add(-1) })
				start := time.Now()
				for i := range 4 {
					require.False(t, timer.Reset(time.Duration(i%2)*time.Second))
					wheeltest.Pass(time.Second)
				}
				timer.Reset(time.Hour)
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				require.ErrorIs(t, timer.StopWait(ctx), context.DeadlineExceeded)
				require.Zero(t, w.Len())
				require.NoError(t, timer.StopWait(t.Context()))
				require.Zero(t, running)
				last := 2 * time.Minute // a Pool of two takes turns
				if name != "Pool" {
					last = time.Minute + 3*time.Second
				}
				require.GreaterOrEqual(t, time.Since(start), last)
				require.Less(t, time.Since(start), last+5*time.Second)
				require.EqualValues(t, 4, w.Stats().Fired)
				require.NoError(t, timer.StopWait(ctx), "nothing to wait for")
			})
		})
	}
}

// A function that sets its own timer does not escape StopWait.
func TestStopWaitOfATimerThatSetsItself(t *testing.T) {
	for by, executor := range wheeltest.Executors() {
		t.Run(by, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := wheeltest.OnSystem(t, hierarchy.Config{Executor: executor})
				runs := 0
				var timer *hierarchy.FuncTimer
				timer = newFunc(t, w, func() { time.Sleep(time.Second); runs++; timer.Reset(time.Second) })
				timer.Reset(time.Second)
				time.Sleep(5500 * time.Millisecond)
				done, err := stopWait(t.Context(), timer)
				synctest.Wait()
				require.False(t, done(), "it runs for another half second")
				wheeltest.Pass(time.Hour)
				require.True(t, done())
				require.NoError(t, *err)
				require.Equal(t, 3, runs)
				require.Zero(t, w.Len())
			})
		})
	}
}

// Within f, StopWait waits for that f, and ends with its context.
func TestStopWaitInsideItsFunction(t *testing.T) {
	for by, executor := range wheeltest.Executors() {
		t.Run(by, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := wheeltest.OnSystem(t, hierarchy.Config{Executor: executor})
				result := make(chan error, 1)
				var timer *hierarchy.FuncTimer
				timer = newFunc(t, w, func() {
					timer.Reset(time.Hour)
					ctx, cancel := context.WithTimeout(t.Context(), time.Second)
					defer cancel()
					result <- timer.StopWait(ctx)
				})
				timer.Reset(time.Second)
				require.ErrorIs(t, <-result, context.DeadlineExceeded)
				require.Zero(t, w.Len(), "it was stopped")
				require.NoError(t, timer.StopWait(t.Context()))
			})
		})
	}
}

// What waits for a worker counts as running for StopWait, and what panics or exits has
// ended.
func TestStopWaitForQueuedAndPanicking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wheeltest.OnSystem(t, hierarchy.Config{Executor: hierarchy.Pool(1), OnPanic: func(any, []byte) {}})
		wheeltest.Set(t, w, 0, func() { time.Sleep(time.Minute) })
		for _, f := range []func(){nop, func() { panic("oh") }, runtime.Goexit} {
			timer := newFunc(t, w, f)
			timer.Reset(time.Second)
			wheeltest.Pass(2 * time.Second)
			require.Zero(t, w.Len())
			require.False(t, timer.Stop())
			canceled, cancel := context.WithCancel(t.Context())
			cancel()
			require.ErrorIs(t, timer.StopWait(canceled), context.Canceled)
			go func() {
				time.Sleep(time.Hour)
				require.NoError(t, timer.StopWait(canceled))
			}()
		}
		time.Sleep(2 * time.Hour)
	})
}

// A wheel that is stopped drops a pending timer, and StopWait waits only for what runs.
func TestStopWaitOnAStoppedWheel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wheeltest.OnSystem(t, hierarchy.Config{})
		timer := newFunc(t, w, func() { time.Sleep(time.Minute) })
		timer.Reset(0)
		synctest.Wait()
		timer.Reset(time.Second)
		w.Stop()
		start := time.Now()
		require.NoError(t, timer.StopWait(t.Context()))
		require.Equal(t, time.Minute, time.Since(start))
		require.NoError(t, w.Shutdown(t.Context()))
		require.EqualValues(t, 1, w.Stats().Dropped)
	})
}

// An executor that panics has lost its task, for which StopWait does not wait.
func TestStopWaitForALostTask(t *testing.T) {
	w, m := wheeltest.OnMock(t, hierarchy.Config{Executor: func(func()) { panic("full") }})
	timer := newFunc(t, w, nop)
	timer.Reset(1)
	require.PanicsWithValue(t, "full", func() { m.Add(1) })
	require.NoError(t, timer.StopWait(t.Context()))
}

// Goroutines set, stop and wait while the timer fires and the wheel stops: it runs once for
// each time that it was set and not stopped, and never after StopWait while nobody sets it.
func TestFuncTimerConcurrently(t *testing.T) {
	for by, executor := range wheeltest.Executors() {
		t.Run(by, func(t *testing.T) {
			for range 20 {
				w := wheeltest.New(t, hierarchy.Config{Clock: clock.System(), Executor: executor, Precision: time.Microsecond, MaxPending: 3})
				var set, stopped, ran, running atomic.Int64
				timer := newFunc(t, w, func() { running.Add(1); ran.Add(1); running.Add(-1) })
				reset := func(d time.Duration) {
					if !timer.Reset(d) {
						set.Add(1)
					}
				}
				wheeltest.Concurrently(func() { reset(time.Duration(rand.IntN(3)-1) * time.Microsecond) },
					func() { reset(time.Microsecond) },
					func() {
						if timer.Stop() {
							stopped.Add(1)
						}
					})
				require.NoError(t, timer.StopWait(t.Context()))
				require.Zero(t, running.Load())
				before := ran.Load()
				require.NoError(t, w.Shutdown(t.Context()))
				require.Equal(t, before, ran.Load())
				st := w.Stats()
				require.EqualValues(t, set.Load(), st.Scheduled)
				require.EqualValues(t, ran.Load(), st.Fired)
				require.LessOrEqual(t, uint64(stopped.Load()), st.Stopped)
				require.LessOrEqual(t, st.Stopped, uint64(stopped.Load())+1)
				wheeltest.RequireBalance(t, w)
			}
		})
	}
}
