package callbacks

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/tests/internal/wheeltest"
)

// oneByOne is an Executor of someone's own that runs one task at a time.
func oneByOne() hierarchy.Executor {
	place := make(chan struct{}, 1)
	return func(task func()) {
		go func() {
			place <- struct{}{}
			defer func() { <-place }()
			task()
		}()
	}
}

// Lateness ends when a callback is dispatched. Waited is the rest, until it begins: also for
// callbacks of one deadline, and for those that were due when they were set.
func TestWaitedIsFromDispatchToTheCallback(t *testing.T) {
	for name, executor := range map[string]func() hierarchy.Executor{
		"Pool": func() hierarchy.Executor { return hierarchy.Pool(1) }, "own": oneByOne,
	} {
		for _, shards := range []int{1, 4} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := wheeltest.New(t, hierarchy.Config{Clock: clock.System(), Executor: executor(), Shards: shards})
					for range 10 {
						wheeltest.Set(t, w, time.Second, func() { time.Sleep(time.Second) })
					}
					time.Sleep(time.Second + time.Millisecond)
					wheeltest.Set(t, w, 0, nop) // behind them, for 10 s less a millisecond
					synctest.Wait()
					require.Equal(t, 10, w.Stats().Queued)
					require.Equal(t, uint64(1), w.Stats().Waited.Count(), "what waits was not counted yet")
					time.Sleep(time.Minute)
					st := w.Stats()
					require.Zero(t, st.Lateness.Max())
					require.Equal(t, uint64(11), st.Waited.Count())
					require.Equal(t, 10*time.Second-time.Millisecond, st.Waited.Max())
					require.InDelta(t, 5*time.Second, st.Waited.Mean(), float64(time.Millisecond))
				})
			})
		}
	}
}

// Callbacks that a worker calls one after the other count one by one: each that waits, and the time
// that each waited, whichever of them is slow.
func TestCallbacksOfAPoolCountOneByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wheeltest.New(t, hierarchy.Config{Clock: clock.System(), Executor: hierarchy.Pool(1)})
		for i := range 6 {
			wheeltest.Set(t, w, time.Second, func() {
				st := w.Stats()
				require.Equal(t, 5-i, st.Queued, i)
				require.Equal(t, 1, st.Running, i)
				require.Equal(t, uint64(i+1), st.Waited.Count())
				if i == 2 {
					time.Sleep(time.Minute)
				}
				if i == 4 {
					runtime.Goexit()
				}
			})
		}
		time.Sleep(time.Hour)
		st := w.Stats()
		require.Zero(t, st.Queued+st.Running)
		require.Equal(t, 30*time.Second, st.Waited.Mean(), "three waited for nothing, three a minute")
		require.Zero(t, st.Waited.Quantile(0.5))
		require.Equal(t, time.Minute, st.Waited.Quantile(0.6))
		require.NoError(t, w.Shutdown(t.Context()))
	})
}

// Two wheels that share a pool count their own callbacks.
func TestWaitedInASharedPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := hierarchy.Config{Clock: clock.System(), Executor: hierarchy.Pool(1)}
		slow, quick := wheeltest.New(t, cfg), wheeltest.New(t, cfg)
		wheeltest.Set(t, slow, time.Second, func() { time.Sleep(time.Minute) })
		wheeltest.Set(t, quick, 2*time.Second, nop)
		time.Sleep(time.Hour)
		require.Zero(t, slow.Stats().Waited.Max())
		require.Equal(t, 59*time.Second, quick.Stats().Waited.Max())
	})
}

// Callbacks of Go and Inline do not queue.
func TestNothingWaitsWithGoOrInline(t *testing.T) {
	for _, e := range []hierarchy.Executor{hierarchy.Go, hierarchy.Inline} {
		synctest.Test(t, func(t *testing.T) {
			w := wheeltest.New(t, hierarchy.Config{Clock: clock.System(), Executor: e})
			wheeltest.Set(t, w, time.Second, nop)
			time.Sleep(time.Minute)
			require.Equal(t, uint64(1), w.Stats().Fired)
			require.Zero(t, w.Stats().Waited.Count())
		})
	}
}

// While MaxQueued callbacks wait, no timer can be set that would need the executor. What was
// pending still fires, and nothing is lost.
func TestMaxQueuedRefusesFurtherTimers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wheeltest.New(t, hierarchy.Config{Clock: clock.System(), Executor: hierarchy.Pool(1), MaxQueued: 3})
		release := make(chan struct{})
		ran := 0
		wait := func() { <-release; ran++ }
		for range 6 {
			wheeltest.Set(t, w, time.Second, wait)
		}
		late := wheeltest.Set(t, w, time.Minute, wait)
		func1, err := w.NewFunc(wait)
		require.NoError(t, err)
		repeater, err := w.Every(time.Hour, func() {})
		require.NoError(t, err)
		time.Sleep(time.Second)
		synctest.Wait()
		require.Equal(t, 5, w.Stats().Queued, "all of what was pending")

		for _, d := range []time.Duration{0, time.Hour} {
			_, err = w.AfterFunc(d, nop)
			require.ErrorIs(t, err, hierarchy.ErrFull)
			_, err = w.Every(d+1, nop)
			require.ErrorIs(t, err, hierarchy.ErrFull)
			_, err = w.NewIdle(d+1, nop)
			require.ErrorIs(t, err, hierarchy.ErrFull)
		}
		c, err := w.After(time.Second)
		require.NoError(t, err, "a channel needs no executor")
		<-c
		require.NoError(t, w.Sleep(t.Context(), time.Second))
		require.True(t, late.Reset(time.Hour), "it needs no new timer")
		require.False(t, func1.Reset(0), "which has no error to return")
		require.True(t, repeater.Stop())

		close(release)
		synctest.Wait()
		require.Equal(t, 7, ran)
		wheeltest.Set(t, w, 0, nop)
	})
}

func TestMaxQueuedOfKeyed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		cfg := hierarchy.Config{Clock: clock.System(), Executor: hierarchy.Pool(1), MaxQueued: 1}
		w, err := hierarchy.NewKeyed(cfg, func(string, int) { <-release })
		require.NoError(t, err)
		defer w.Stop()
		for i, key := range []string{"runs", "waits", "pending"} {
			require.NoError(t, w.Set(key, 0, time.Duration(i+1)*time.Second))
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		require.ErrorIs(t, w.Set("new", 0, time.Second), hierarchy.ErrFull)
		require.ErrorIs(t, w.Set("new", 0, 0), hierarchy.ErrFull)
		require.NoError(t, w.Set("pending", 1, time.Hour))
		close(release)
	})
}

func TestMaxQueuedMustNotBeNegative(t *testing.T) {
	_, err := hierarchy.New(hierarchy.Config{MaxQueued: -1})
	require.ErrorIs(t, err, hierarchy.ErrArgument)
}

// A flood of timers that are due when they are set ends at the limit, and not when memory does.
func TestMaxQueuedEndsAFlood(t *testing.T) {
	const limit = 1000
	w := wheeltest.New(t, hierarchy.Config{Executor: hierarchy.Pool(1), MaxQueued: limit})
	release := make(chan struct{})
	set := 0
	for ; set <= 2*limit; set++ {
		if _, err := w.AfterFunc(0, func() { <-release }); err != nil {
			require.ErrorIs(t, err, hierarchy.ErrFull)
			break
		}
		if set == 0 {
			for w.Stats().Running == 0 {
				runtime.Gosched()
			}
		}
	}
	require.Equal(t, limit+1, set, "one runs, and the others wait")
	close(release)
	require.NoError(t, w.Shutdown(t.Context()))
	require.Equal(t, uint64(limit+1), w.Stats().Waited.Count())
}
