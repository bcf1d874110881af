package compat_test

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/compat"
)

func cancelledContext() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

func TestShutdown(t *testing.T) {
	forEachKind(t, func(key, _ any) { t.Errorf("%v ran", key) }, func(t *testing.T, w *compat.TimingWheel, _ func()) {
		require.NoError(t, w.SetTimer("a", 1, interval))
		require.NoError(t, w.Shutdown(t.Context()))
		requireClosed(t, w)
		time.Sleep(2 * interval)
		require.NoError(t, w.Shutdown(cancelledContext()), "nothing is running")
		w.Stop()
		require.NoError(t, w.Shutdown(t.Context()))
		requireClosed(t, w)
	})
}

// shutdownCall is a call of Shutdown under way, in a bubble.
type shutdownCall struct {
	cancel context.CancelFunc
	err    chan error
}

func shutDown(w *compat.TimingWheel) shutdownCall {
	ctx, cancel := context.WithCancel(context.Background())
	call := shutdownCall{cancel, make(chan error, 1)}
	go func() { call.err <- w.Shutdown(ctx) }()
	settle()
	return call
}

// requireShutdownWaits checks that Shutdown waits until its context is cancelled or release
// is called.
func requireShutdownWaits(t *testing.T, w *compat.TimingWheel, release func()) {
	t.Helper()
	first, second, third := shutDown(w), shutDown(w), shutDown(w)
	requireClosed(t, w)
	require.Empty(t, first.err)
	first.cancel()
	require.ErrorIs(t, <-first.err, context.Canceled)
	settle()
	require.Empty(t, second.err)
	require.ErrorIs(t, w.Shutdown(cancelledContext()), context.Canceled)
	release()
	require.NoError(t, <-second.err)
	require.NoError(t, <-third.err)
	second.cancel()
	third.cancel()
}

func TestShutdownWaitsForTasks(t *testing.T) {
	var g *gate
	execute := func(key, value any) { g.hold(key, value) }
	forEachKind(t, execute, func(t *testing.T, w *compat.TimingWheel, advance func()) {
		g = newGate()
		require.NoError(t, w.SetTimer("a", nil, interval))
		require.NoError(t, w.SetTimer("later", nil, time.Hour))
		moved := make(chan bool)
		go func() { advance(); close(moved) }() // on a mock, advance returns when the task does
		time.Sleep(2 * interval)
		require.EqualValues(t, 1, g.calls.Load())
		requireShutdownWaits(t, w, func() { close(g.open) })
		<-moved
		time.Sleep(2 * time.Hour)
		require.EqualValues(t, 1, g.calls.Load())
	})
}

// The function of Drain is called for all drained timers, also after the wheel was
// stopped. Shutdown waits for all these calls, also for those that have not begun.
func TestShutdownWaitsForDrain(t *testing.T) {
	forEachKind(t, func(key, _ any) { t.Errorf("%v ran", key) }, func(t *testing.T, w *compat.TimingWheel, _ func()) {
		const n = 20
		g := newGate()
		for key := range n {
			require.NoError(t, w.SetTimer(key, nil, time.Hour))
		}
		drained := make(chan error, 1)
		go func() { drained <- w.Drain(g.hold) }()
		settle()
		require.Less(t, g.calls.Load(), int32(n))
		requireShutdownWaits(t, w, func() {
			for range n - 1 {
				g.open <- struct{}{}
			}
			settle()
			require.EqualValues(t, n, g.calls.Load())
			last := shutDown(w)
			require.Empty(t, last.err, "the last call has begun and not returned")
			g.open <- struct{}{}
			require.NoError(t, <-last.err)
			last.cancel()
		})
		require.NoError(t, <-drained)
	})
}

// Shutdown does not wait for a function that has panicked or exited its goroutine.
func TestShutdownAfterDrainThatDoesNotReturn(t *testing.T) {
	captureLogs(t)
	forEachKind(t, func(any, any) {}, func(t *testing.T, w *compat.TimingWheel, _ func()) {
		var calls atomic.Int32
		for _, how := range []func(){func() { panic("boom") }, runtime.Goexit} {
			for key := range 20 {
				require.NoError(t, w.SetTimer(key, nil, interval))
			}
			var wg sync.WaitGroup
			wg.Go(func() { _ = w.Drain(func(any, any) { defer calls.Add(1); how() }) })
			wg.Wait()
		}
		require.NoError(t, w.Shutdown(t.Context()))
		require.EqualValues(t, 40, calls.Load())
	})
}

// Tasks that are queued when the wheel is stopped do not run.
func TestShutdownAndQueuedTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ticker, g := newFakeTicker(), newGate()
		w := newTickerWheel(t, 10, g.hold, ticker)
		for key := range maxTasks + 100 {
			require.NoError(t, w.SetTimer(key, nil, interval))
		}
		ticker.tick()
		settle()
		requireShutdownWaits(t, w, func() { close(g.open) })
		require.EqualValues(t, maxTasks, g.calls.Load())
	})
}

// Inside a task or the function of Drain, Shutdown waits for its own caller.
func TestShutdownInsideTask(t *testing.T) {
	var w *compat.TimingWheel
	var errs chan error
	inside := func(any, any) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		errs <- w.Shutdown(ctx)
	}
	forEachKind(t, inside, func(t *testing.T, tw *compat.TimingWheel, advance func()) {
		w, errs = tw, make(chan error, 1)
		require.NoError(t, w.SetTimer("a", nil, interval))
		advance()
		require.ErrorIs(t, <-errs, context.DeadlineExceeded)
		require.NoError(t, w.Shutdown(t.Context()))
	})
	forEachKind(t, func(any, any) {}, func(t *testing.T, tw *compat.TimingWheel, _ func()) {
		w, errs = tw, make(chan error, 1)
		require.NoError(t, w.SetTimer("a", nil, interval))
		require.NoError(t, w.Drain(inside))
		require.ErrorIs(t, <-errs, context.DeadlineExceeded)
		require.NoError(t, w.Shutdown(t.Context()))
	})
}

// No task runs once Shutdown has returned nil, whatever other goroutines do meanwhile. The
// test runs in real time, because a bubble's time stands still while a goroutine runs.
func TestNothingRunsAfterShutdown(t *testing.T) {
	for name, newWheel := range map[string]func(execute compat.Execute) (w *compat.TimingWheel, advance func()){
		"mock": func(execute compat.Execute) (*compat.TimingWheel, func()) {
			w, m := onMock(t, execute)
			return w, func() { m.Add(interval) }
		},
		"ticker": func(execute compat.Execute) (*compat.TimingWheel, func()) {
			ticker := newFakeTicker()
			return newTickerWheel(t, 10, execute, ticker), ticker.tick
		},
		"real": func(execute compat.Execute) (*compat.TimingWheel, func()) {
			w, err := compat.NewTimingWheel(interval, 10, execute)
			require.NoError(t, err)
			return w, runtime.Gosched
		},
	} {
		t.Run(name, func(t *testing.T) {
			var ran atomic.Bool
			for range 30 {
				var over atomic.Bool
				task := func(any, any) {
					for range 2 {
						if over.Load() {
							ran.Store(true)
						}
						runtime.Gosched()
					}
				}
				w, advance := newWheel(task)
				useUntilShutdown(t, w, task, advance, &over)
			}
			require.False(t, ran.Load())
		})
	}
}

// useUntilShutdown uses w from several goroutines while two others shut it down, and sets
// over when both calls of Shutdown have returned.
func useUntilShutdown(t *testing.T, w *compat.TimingWheel, task compat.Execute, advance func(), over *atomic.Bool) {
	var users, stoppers sync.WaitGroup
	busy := make(chan struct{})
	for g := range 3 {
		users.Go(func() {
			for i := 0; w.SetTimer([2]int{g, i % 50}, nil, time.Duration(1+i%3)) == nil; i++ {
				if g == 0 && i == 100 {
					close(busy)
				}
				if i%16 == 0 {
					runtime.Gosched()
				}
			}
		})
	}
	users.Go(func() {
		for w.Drain(task) == nil {
			advance()
		}
	})
	for range 2 {
		stoppers.Go(func() {
			<-busy
			if err := w.Shutdown(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	stoppers.Wait()
	over.Store(true)
	users.Wait()
}

// When Shutdown returns, the wheel no longer uses its ticker: the owner may use it
// elsewhere, or close its channel.
func TestShutdownWaitsForTheTicker(t *testing.T) {
	l := captureLogs(t)
	for range 300 {
		ticker := newFakeTicker()
		w := newTickerWheel(t, 3, func(any, any) {}, ticker)
		require.NoError(t, w.Shutdown(t.Context()))
		require.EqualValues(t, 1, ticker.stops.Load())
		select {
		case ticker.c <- time.Time{}:
			t.Fatal("a tick was received")
		default:
		}

		closing := closingTicker{make(chan time.Time, 1)}
		w = newTickerWheel(t, 3, func(any, any) {}, closing)
		closing.Stop()
		require.NoError(t, w.Shutdown(t.Context()))
	}
	require.Empty(t, l.take(t))
}

// slowTicker is a ticker whose Stop blocks until stopped is closed.
type slowTicker struct{ *fakeTicker }

func (s slowTicker) Stop() { <-s.stopped }

func TestShutdownAndSlowTicker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ticker := slowTicker{newFakeTicker()}
		w := newTickerWheel(t, 3, func(any, any) {}, ticker)
		requireShutdownWaits(t, w, func() { close(ticker.stopped) })
	})
}
