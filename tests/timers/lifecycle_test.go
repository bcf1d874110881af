package timers

import (
	"context"
	"math"
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

func TestBadConfigs(t *testing.T) {
	for name, cfg := range map[string]hierarchy.Config{
		"interval": {Interval: -1}, "precision": {Precision: -1}, "pending": {MaxPending: -1},
		"shards": {Shards: -1}, "precision above interval": {Interval: 1, Precision: 2},
	} {
		_, err := hierarchy.New(cfg)
		require.ErrorIs(t, err, hierarchy.ErrArgument, name)
		_, err = hierarchy.NewOf(cfg, func(int) {})
		require.ErrorIs(t, err, hierarchy.ErrArgument, name)
		_, err = hierarchy.NewKeyed(cfg, func(int, int) {})
		require.ErrorIs(t, err, hierarchy.ErrArgument, name)
	}
}

func TestCirclesReachFromPrecisionToTheEndOfTime(t *testing.T) {
	for _, cfg := range []hierarchy.Config{
		{}, {Precision: 1}, {Interval: 10 * time.Millisecond}, {Interval: 3 * time.Microsecond},
		{Precision: 5 * time.Second}, {Interval: time.Hour, Precision: time.Minute},
	} {
		w := wheeltest.New(t, cfg)
		circles := w.Circles()
		bases := 0
		for k, c := range circles {
			require.Len(t, c.Slots, 64)
			if k > 1 {
				require.Equal(t, 64*circles[k-1].Width, c.Width)
			}
			if c.Base {
				bases++
				interval := max(cfg.Interval, cfg.Precision)
				if cfg.Interval == 0 {
					interval = max(time.Second, cfg.Precision)
				}
				require.InEpsilon(t, float64(interval), float64(c.Width), 0.5)
			}
		}
		require.Equal(t, 1, bases)
		require.LessOrEqual(t, circles[0].Width, max(cfg.Precision, 1))
		last := circles[len(circles)-1].Width
		require.Greater(t, last, time.Duration(math.MaxInt64/64), "a turn of the last circle must be longer than any Duration")
	}
}

func TestCirclesCountEveryTimerOnce(t *testing.T) {
	m := clock.NewMock()
	cfg := hierarchy.Config{Clock: m}
	w := wheeltest.New(t, cfg)
	of, err := hierarchy.NewOf(cfg, func(int) {})
	require.NoError(t, err)
	keyed, err := hierarchy.NewKeyed(cfg, func(int, int) {})
	require.NoError(t, err)
	for k := range 40 {
		wheeltest.Set(t, w, 1<<k, nop)
		_, err := of.Set(k, 1<<k)
		require.NoError(t, err)
		require.NoError(t, keyed.Set(k, k, 1<<k))
	}
	m.Add(time.Second)
	for _, w := range []interface {
		Circles() []hierarchy.CircleStats
		Len() int
	}{w, of, keyed} {
		total := 0
		for _, c := range w.Circles() {
			for _, n := range c.Slots {
				total += n
			}
		}
		require.Equal(t, w.Len(), total)
	}
}

func TestStopFromAnywhere(t *testing.T) {
	m := clock.NewMock()
	w := wheeltest.New(t, hierarchy.Config{Clock: m})
	late := false
	wheeltest.Set(t, w, time.Second, func() {
		w.Stop()
		w.Stop()
		_, err := w.AfterFunc(0, nop)
		require.ErrorIs(t, err, hierarchy.ErrClosed)
	})
	timer := wheeltest.Set(t, w, time.Second, func() { late = true })
	m.Add(time.Minute)
	require.False(t, late)
	require.False(t, timer.Stop())
	require.False(t, timer.Reset(1))
	require.False(t, timer.Active())
	require.Zero(t, w.Len())
	st := w.Stats()
	require.EqualValues(t, 1, st.Fired)
	require.EqualValues(t, 1, st.Dropped)
	_, pending := m.Next()
	require.False(t, pending)
}

func TestShutdownWaitsForCallbacks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wheeltest.New(t, hierarchy.Config{Clock: clock.System()})
		wheeltest.Set(t, w, time.Second, func() { time.Sleep(time.Minute) })
		time.Sleep(2 * time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, w.Shutdown(ctx), context.DeadlineExceeded)
		start := time.Now()
		require.NoError(t, w.Shutdown(t.Context()))
		require.Equal(t, 58*time.Second, time.Since(start))
		require.NoError(t, w.Shutdown(ctx), "Shutdown must not wait if nothing runs")
	})
}

// Shutdown inside a callback waits for that callback, too.
func TestShutdownInsideACallbackEndsWithItsContext(t *testing.T) {
	for name, executor := range wheeltest.Executors() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := wheeltest.New(t, hierarchy.Config{Clock: clock.System(), Executor: executor})
				result := make(chan error, 1)
				wheeltest.Set(t, w, time.Second, func() {
					ctx, cancel := context.WithTimeout(t.Context(), time.Second)
					defer cancel()
					result <- w.Shutdown(ctx)
				})
				require.ErrorIs(t, <-result, context.DeadlineExceeded)
				require.NoError(t, w.Shutdown(t.Context()))
			})
		})
	}
}

// A wheel that is stopped while 100,000 timers are due fires each at most once, and a
// timer whose Stop returned true does not fire.
func TestStopWhileACrowdIsDue(t *testing.T) {
	for name, executor := range wheeltest.Executors() {
		t.Run(name, func(t *testing.T) {
			const n = 100_000
			w := wheeltest.New(t, hierarchy.Config{Clock: clock.System(), Executor: executor})
			var fired [n]atomic.Int32
			stopped := make([]bool, n)
			timers := make([]hierarchy.Timer, n)
			for i := range n {
				timers[i] = wheeltest.Set(t, w, 20*time.Millisecond, func() { fired[i].Add(1) })
			}
			time.Sleep(20 * time.Millisecond)
			for i := range 1000 {
				stopped[i*7] = timers[i*7].Stop()
			}
			w.Stop()
			require.NoError(t, w.Shutdown(t.Context()))
			ran := 0
			for i := range n {
				count := fired[i].Load()
				require.LessOrEqual(t, count, int32(1))
				require.False(t, stopped[i] && count > 0)
				ran += int(count)
			}
			st := w.Stats()
			require.EqualValues(t, ran, st.Fired)
			require.EqualValues(t, n, st.Fired+st.Stopped+st.Dropped)
		})
	}
}

// Goroutines make all kinds of calls in real time. The account of all timers must balance.
func TestConcurrentUse(t *testing.T) {
	for name, executor := range wheeltest.Executors() {
		t.Run(name, func(t *testing.T) {
			w := wheeltest.New(t, hierarchy.Config{Clock: clock.System(), Executor: executor, Shards: 4, Precision: time.Microsecond})
			var set, fired, stopped atomic.Int64
			var wg sync.WaitGroup
			for g := range 4 {
				wg.Go(func() {
					r := rand.New(rand.NewPCG(uint64(g), 0))
					for range 3000 {
						start := time.Now()
						d := time.Duration(r.IntN(3_000_000))
						timer, err := w.AfterFunc(d, func() {
							fired.Add(1)
							if early := d - time.Since(start); early > 0 {
								panic(early)
							}
						})
						if err != nil {
							panic(err)
						}
						set.Add(1)
						switch r.IntN(3) {
						case 0:
							timer.Reset(d + time.Duration(r.IntN(1_000_000)))
						case 1:
							if timer.Stop() {
								stopped.Add(1)
							}
						}
						w.Stats()
						w.Len()
					}
				})
			}
			wg.Wait()
			require.Eventually(t, func() bool { return w.Len() == 0 }, time.Minute, time.Millisecond)
			require.NoError(t, w.Shutdown(t.Context()))
			require.Equal(t, set.Load(), fired.Load()+stopped.Load())
			require.EqualValues(t, set.Load(), w.Stats().Scheduled)
		})
	}
}

func TestConcurrentKeyedUse(t *testing.T) {
	var fired atomic.Int64
	w, err := hierarchy.NewKeyed(hierarchy.Config{Clock: clock.System(), Shards: 4}, func(int, int) { fired.Add(1) })
	require.NoError(t, err)
	defer w.Stop()
	var set, removed atomic.Int64
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(g), 1))
			for range 5000 {
				k, d := r.IntN(300), time.Duration(r.IntN(2_000_000))
				switch r.IntN(4) {
				case 0, 1:
					if _, replaced, err := w.Swap(k, 1, d); err == nil && !replaced {
						set.Add(1)
					}
				case 2:
					_, _ = w.Move(k, d)
				case 3:
					if _, ok := w.Remove(k); ok {
						removed.Add(1)
					}
				}
			}
		})
	}
	wg.Wait()
	removed.Add(int64(w.Drain(nil)))
	require.NoError(t, w.Shutdown(t.Context()))
	require.Equal(t, set.Load(), fired.Load()+removed.Load())
}

// Precision limits wake-ups: a crowd spread over 50 ms costs one wake-up per Precision,
// whatever the number of shards. A lone timer is exact.
func TestGathering(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wheeltest.New(t, hierarchy.Config{Clock: clock.System(), Executor: hierarchy.Inline, Precision: 5 * time.Millisecond, Shards: 4})
		start := time.Now()
		var late time.Duration
		for i := range 5000 {
			deadline := time.Duration(i) * 10 * time.Microsecond
			wheeltest.Set(t, w, deadline, func() {
				require.GreaterOrEqual(t, time.Since(start), deadline)
				late = max(late, time.Since(start)-deadline)
			})
		}
		lone := time.Duration(0)
		wheeltest.Set(t, w, time.Second+12345, func() { lone = time.Since(start) })
		time.Sleep(2 * time.Second)
		synctest.Wait()
		require.LessOrEqual(t, late, 5*time.Millisecond)
		require.EqualValues(t, time.Second+12345, lone)
		require.LessOrEqual(t, w.Stats().Wakeups, uint64(13))
		require.EqualValues(t, 5001, w.Stats().Fired)
	})
}

// A lone timer far away costs one wake-up, not one per circle.
func TestLoneTimerWakesOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wheeltest.New(t, hierarchy.Config{Clock: clock.System(), Executor: hierarchy.Inline})
		wheeltest.Set(t, w, 3*365*24*time.Hour+1, nop)
		time.Sleep(4 * 365 * 24 * time.Hour)
		require.EqualValues(t, 1, w.Stats().Wakeups)
		require.EqualValues(t, 1, w.Stats().Fired)
	})
}

// Shutdown waits for the callback of a timer as soon as Len no longer counts the timer,
// even if the callback has not begun.
func TestShutdownWaitsForWhatWasTakenOut(t *testing.T) {
	for i := range 2000 {
		w, err := hierarchy.New(hierarchy.Config{Clock: clock.System(), Shards: 1})
		require.NoError(t, err)
		var ran atomic.Bool
		_, err = w.AfterFunc(time.Duration(i%2), func() { ran.Store(true) }) // 0 never waits
		require.NoError(t, err)
		for n := 1; w.Len() > 0; n++ {
			if n%10_000 == 0 {
				runtime.Gosched() // needed if there is one processor; rarely, to notice at once
			}
		}
		require.NoError(t, w.Shutdown(context.Background()))
		require.True(t, ran.Load())
	}
}

func TestStatsSayThatTheWheelIsStopped(t *testing.T) {
	w := wheeltest.New(t, hierarchy.Config{})
	require.False(t, w.Stats().Closed)
	w.Stop()
	require.True(t, w.Stats().Closed)
	require.Contains(t, w.Stats().String(), "stopped")
}

// The hands of a wheel that was stopped stand still.
func TestHandsOfAStoppedWheel(t *testing.T) {
	m := clock.NewMock()
	w := wheeltest.New(t, hierarchy.Config{Clock: m})
	m.Add(1234567 * time.Microsecond)
	before := w.Circles()
	require.NotZero(t, before[0].Hand)
	w.Stop()
	m.Add(7654321 * time.Microsecond)
	require.Equal(t, before, w.Circles())
}
