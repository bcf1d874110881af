package callbacks

import (
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	benbjohnson "github.com/benbjohnson/clock"
	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/tests/internal/wheeltest"
)

// A callback may set what is due at once again and again: others have their turn, and no
// stack grows.
func TestChainOfDueTimers(t *testing.T) {
	for by, executor := range wheeltest.Executors() {
		t.Run(by, func(t *testing.T) {
			w := wheeltest.New(t, hierarchy.Config{Clock: clock.System(), Executor: executor})
			var others, links atomic.Int32
			deepest := atomic.Int32{}
			done := make(chan struct{})
			var link func()
			link = func() {
				pcs := [256]uintptr{}
				deepest.Store(max(deepest.Load(), int32(runtime.Callers(0, pcs[:]))))
				if links.Add(1) > 1000 && others.Load() == 10 {
					close(done)
					return
				}
				wheeltest.Set(t, w, 0, link)
			}
			for i := range 10 {
				wheeltest.Set(t, w, time.Duration(i)*time.Millisecond, func() { others.Add(1) })
			}
			wheeltest.Set(t, w, 0, link)
			<-done
			require.Less(t, deepest.Load(), int32(50))
			require.NoError(t, w.Shutdown(t.Context()))
			require.EqualValues(t, links.Load()+10, w.Stats().Fired)
		})
	}
}

// A due timer that an Inline callback sets does not wait for a Precision either.
func TestDueNowSetInsideARound(t *testing.T) {
	for by, executor := range wheeltest.Executors() {
		t.Run(by, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := wheeltest.New(t, wheeltest.Rough(executor))
				start := time.Now()
				var at wheeltest.Moments
				wheeltest.Set(t, w, time.Second, func() {
					time.Sleep(time.Millisecond) // later than what the round has read
					for range 3 {
						wheeltest.Set(t, w, 0, at.Note)
					}
				})
				wheeltest.Pass(time.Hour)
				now := time.Second + time.Millisecond
				require.Equal(t, []time.Duration{now, now, now}, at.Since(start))
			})
		})
	}
}

// What is due at once holds up others by no more than a Precision, and wakes the wheel for
// nothing else.
func TestDueNowCountsAsAWakeUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wheeltest.New(t, wheeltest.Rough(hierarchy.Inline))
		start := time.Now()
		var at []time.Duration
		note := func() { at = append(at, time.Since(start)) }
		wheeltest.Set(t, w, time.Second, note)
		wheeltest.Set(t, w, time.Second+time.Minute, note)
		wheeltest.Pass(2 * time.Second)
		wheeltest.Set(t, w, 0, note)
		wheeltest.Pass(time.Hour)
		require.Equal(t, []time.Duration{time.Second, 2 * time.Second, 2*time.Second + time.Minute}, at)
		require.EqualValues(t, 3, w.Stats().Wakeups)
	})
}

// A Pool that is full queues what is due, and Stats says so.
func TestDueNowWaitsForAWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wheeltest.New(t, wheeltest.Rough(hierarchy.Pool(1)))
		order := []int{}
		for i := range 4 {
			wheeltest.Set(t, w, 0, func() { order = append(order, i); time.Sleep(time.Second) })
		}
		synctest.Wait()
		require.Equal(t, 3, w.Stats().Queued)
		require.Equal(t, 1, w.Stats().Running)
		require.NoError(t, w.Shutdown(t.Context()))
		require.Equal(t, []int{0, 1, 2, 3}, order)
	})
}

func TestDueNowThatPanicsOrExits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for by, executor := range wheeltest.Executors() {
			cfg := wheeltest.Rough(executor)
			caught := 0
			cfg.OnPanic = func(v any, _ []byte) { require.Equal(t, "oh", v); caught++ }
			w := wheeltest.New(t, cfg)
			wheeltest.Set(t, w, 0, func() { panic("oh") })
			wheeltest.Set(t, w, 0, runtime.Goexit)
			ran := false
			wheeltest.Set(t, w, 0, func() { ran = true })
			synctest.Wait()
			require.Equal(t, 1, caught, by)
			require.True(t, ran, by)
			require.EqualValues(t, 1, w.Stats().Panics)
			wheeltest.RequireIdle(t, w)
		}
	})
}

// A Schedule that is behind catches up without waiting for the wheel.
func TestScheduleThatIsBehindIsNow(t *testing.T) {
	for by, executor := range wheeltest.Executors() {
		t.Run(by, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := wheeltest.New(t, wheeltest.Rough(executor))
				wakeUp(func(d time.Duration) { wheeltest.Set(t, w, d, nop) })
				start := time.Now()
				next := start.Add(-10*time.Second - time.Second/2)
				var at, want []time.Duration
				r := wheeltest.Schedule(t, w, wheeltest.Planned(func(time.Time) time.Time {
					next = next.Add(time.Second)
					return next
				}), func() { at = append(at, time.Since(start)); time.Sleep(time.Millisecond) })
				wheeltest.Pass(100 * time.Millisecond)
				for i := range 10 {
					want = append(want, time.Duration(i)*time.Millisecond)
				}
				require.Equal(t, want, at)
				require.Equal(t, 1, w.Len())
				wheeltest.Pass(time.Minute + time.Second)
				require.Greater(t, len(at), 10)
				require.True(t, r.Stop())
				require.Zero(t, w.Len())
				wheeltest.RequireBalance(t, w)
			})
		})
	}
}

// With an executor that does not get it within the call, a key that is due is pending: it
// can be moved and removed until it fires.
func TestDueKeyCanBeRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		w, err := hierarchy.NewKeyed(wheeltest.Rough(hierarchy.Inline), func(int, int) { <-hold })
		require.NoError(t, err)
		defer w.Stop()
		require.NoError(t, w.Set(0, 0, 0))
		synctest.Wait() // the wheel is busy
		for v := range 3 {
			require.NoError(t, w.Set(1, v, 0))
			require.Equal(t, 1, w.Len())
		}
		v, ok := w.Remove(1)
		require.True(t, ok)
		require.Equal(t, 2, v)
		close(hold)
		synctest.Wait()
		require.EqualValues(t, 1, w.Stats().Fired)
		require.Zero(t, w.Len())
	})
}

// It holds on every clock that is not a *clock.Mock.
func TestDueNowOnOtherClocks(t *testing.T) {
	for by, executor := range wheeltest.Executors() {
		t.Run(by, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for _, c := range []clock.Clock{
					clock.System(), clock.Precise(), clock.Spinning(time.Millisecond), clock.Wrap(benbjohnson.New()),
				} {
					cfg := wheeltest.Rough(executor)
					cfg.Clock = c
					w := wheeltest.New(t, cfg)
					wakeUp(func(d time.Duration) { wheeltest.Set(t, w, d, nop) })
					start := time.Now()
					var at wheeltest.Moments
					wheeltest.Set(t, w, 0, at.Note)
					wheeltest.Pass(time.Hour)
					require.Equal(t, []time.Duration{0}, at.Since(start), "%v", c)
				}
			})
		})
	}
}

// On the mock of benbjohnson/clock, whose time stands still, Go gets what is due within the
// call, too.
func TestDueNowOnAWrappedMock(t *testing.T) {
	m := benbjohnson.NewMock()
	w := wheeltest.New(t, hierarchy.Config{Clock: clock.Wrap(m), Executor: hierarchy.Go})
	m.Add(time.Second)
	ran := make(chan time.Time)
	wheeltest.Set(t, w, 0, func() { ran <- m.Now() })
	require.Equal(t, m.Now(), <-ran)
}
