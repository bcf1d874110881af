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

func cancelled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

func TestShutdown(t *testing.T) {
	kinds(t, func(key, _ any) { t.Errorf("%v ran", key) }, func(t *testing.T, w *compat.TimingWheel, _ func()) {
		require.NoError(t, w.SetTimer("a", 1, interval))
		require.NoError(t, w.Shutdown(t.Context()))
		requireClosed(t, w)
		time.Sleep(2 * interval)
		require.NoError(t, w.Shutdown(cancelled()), "nothing is running")
		w.Stop()
		require.NoError(t, w.Shutdown(t.Context()))
		requireClosed(t, w)
	})
}

// ending is a call of Shutdown under way, in a bubble.
type ending struct {
	cancel context.CancelFunc
	err    chan error
}

func shutDown(w *compat.TimingWheel) ending {
	ctx, cancel := context.WithCancel(context.Background())
	e := ending{cancel, make(chan error, 1)}
	go func() { e.err <- w.Shutdown(ctx) }()
	settle()
	return e
}

// requireWaits checks that Shutdown waits until its context is cancelled or release is
// called.
func requireWaits(t *testing.T, w *compat.TimingWheel, release func()) {
	t.Helper()
	first, second, third := shutDown(w), shutDown(w), shutDown(w)
	requireClosed(t, w)
	require.Empty(t, first.err)
	first.cancel()
	require.ErrorIs(t, <-first.err, context.Canceled)
	settle()
	require.Empty(t, second.err)
	require.ErrorIs(t, w.Shutdown(cancelled()), context.Canceled)
	release()
	require.NoError(t, <-second.err)
	require.NoError(t, <-third.err)
	second.cancel()
	third.cancel()
}

func TestShutdownWaitsForTasks(t *testing.T) {
	var g *gate
	execute := func(key, value any) { g.hold(key, value) }
	kinds(t, execute, func(t *testing.T, w *compat.TimingWheel, advance func()) {
		g = newGate()
		require.NoError(t, w.SetTimer("a", nil, interval))
		require.NoError(t, w.SetTimer("later", nil, time.Hour))
		moved := make(chan bool)
		go func() { advance(); close(moved) }() // on a mock, advance returns when the task does
		time.Sleep(2 * interval)
		require.EqualValues(t, 1, g.come.Load())
		requireWaits(t, w, func() { close(g.open) })
		<-moved
		time.Sleep(2 * time.Hour)
		require.EqualValues(t, 1, g.come.Load())
	})
}

// The function of Drain is called for all drained timers, also after the wheel was
// stopped. Shutdown waits for all these calls, also for those that have not begun.
func TestShutdownWaitsForDrain(t *testing.T) {
	kinds(t, func(key, _ any) { t.Errorf("%v ran", key) }, func(t *testing.T, w *compat.TimingWheel, _ func()) {
		const n = 20
		g := newGate()
		for key := range n {
			require.NoError(t, w.SetTimer(key, nil, time.Hour))
		}
		drained := make(chan error, 1)
		go func() { drained <- w.Drain(g.hold) }()
		settle()
		require.Less(t, g.come.Load(), int32(n))
		requireWaits(t, w, func() {
			for range n - 1 {
				g.open <- struct{}{}
			}
			settle()
			require.EqualValues(t, n, g.come.Load())
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
	logged(t)
	kinds(t, func(any, any) {}, func(t *testing.T, w *compat.TimingWheel, _ func()) {
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
		h, g := newFakeTicker(), newGate()
		w := newTicking(t, 10, g.hold, h)
		for key := range maxTasks + 100 {
			require.NoError(t, w.SetTimer(key, nil, interval))
		}
		h.tick()
		settle()
		requireWaits(t, w, func() { close(g.open) })
		require.EqualValues(t, maxTasks, g.come.Load())
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
	kinds(t, inside, func(t *testing.T, of *compat.TimingWheel, advance func()) {
		w, errs = of, make(chan error, 1)
		require.NoError(t, w.SetTimer("a", nil, interval))
		advance()
		require.ErrorIs(t, <-errs, context.DeadlineExceeded)
		require.NoError(t, w.Shutdown(t.Context()))
	})
	kinds(t, func(any, any) {}, func(t *testing.T, of *compat.TimingWheel, _ func()) {
		w, errs = of, make(chan error, 1)
		require.NoError(t, w.SetTimer("a", nil, interval))
		require.NoError(t, w.Drain(inside))
		require.ErrorIs(t, <-errs, context.DeadlineExceeded)
		require.NoError(t, w.Shutdown(t.Context()))
	})
}

// No task runs once Shutdown has returned nil, whatever other goroutines do meanwhile. The
// test runs in real time, because a bubble's time stands still while a goroutine runs.
func TestNothingRunsAfterShutdown(t *testing.T) {
	for name, make := range map[string]func(execute compat.Execute) (w *compat.TimingWheel, advance func()){
		"mock": func(execute compat.Execute) (*compat.TimingWheel, func()) {
			w, m := onMock(t, execute)
			return w, func() { m.Add(interval) }
		},
		"ticker": func(execute compat.Execute) (*compat.TimingWheel, func()) {
			h := newFakeTicker()
			return newTicking(t, 10, execute, h), h.tick
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
				w, advance := make(task)
				useUntilShutdown(t, w, task, advance, &over)
			}
			require.False(t, ran.Load())
		})
	}
}

// useUntilShutdown uses w from several goroutines while two others shut it down, and sets
// over when both calls of Shutdown have returned.
func useUntilShutdown(t *testing.T, w *compat.TimingWheel, task compat.Execute, advance func(), over *atomic.Bool) {
	var users, enders sync.WaitGroup
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
		enders.Go(func() {
			<-busy
			if err := w.Shutdown(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	enders.Wait()
	over.Store(true)
	users.Wait()
}

// When Shutdown returns, the wheel no longer uses its ticker: the owner may use it
// elsewhere, or close its channel.
func TestShutdownWaitsForTheTicker(t *testing.T) {
	l := logged(t)
	for range 300 {
		h := newFakeTicker()
		w := newTicking(t, 3, func(any, any) {}, h)
		require.NoError(t, w.Shutdown(t.Context()))
		require.EqualValues(t, 1, h.stops.Load())
		select {
		case h.c <- time.Time{}:
			t.Fatal("a tick was received")
		default:
		}

		c := closer{make(chan time.Time, 1)}
		w = newTicking(t, 3, func(any, any) {}, c)
		c.Stop()
		require.NoError(t, w.Shutdown(t.Context()))
	}
	require.Empty(t, l.take(t))
}

// slow is a ticker whose Stop blocks until stopped is closed.
type slow struct{ *fakeTicker }

func (s slow) Stop() { <-s.stopped }

func TestShutdownAndSlowTicker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := slow{newFakeTicker()}
		w := newTicking(t, 3, func(any, any) {}, s)
		requireWaits(t, w, func() { close(s.stopped) })
	})
}
