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
		require.NoError(t, w.Shutdown(cancelled()), "nothing is left to wait for")
		w.Stop()
		require.NoError(t, w.Shutdown(t.Context()))
		requireClosed(t, w)
	})
}

// ending is a Shutdown under way, in a bubble.
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

// requireWaits checks that Shutdown waits, until it is cancelled and again until
// release is called.
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
	kinds(t, execute, func(t *testing.T, w *compat.TimingWheel, forth func()) {
		g = newGate()
		require.NoError(t, w.SetTimer("a", nil, interval))
		require.NoError(t, w.SetTimer("later", nil, time.Hour))
		moved := make(chan bool)
		go func() { forth(); close(moved) }() // on a mock until the task returns
		time.Sleep(2 * interval)
		require.EqualValues(t, 1, g.come.Load())
		requireWaits(t, w, func() { close(g.open) })
		<-moved
		time.Sleep(2 * time.Hour)
		require.EqualValues(t, 1, g.come.Load())
	})
}

// What Drain has taken out is handed over, also after the wheel was stopped, and
// Shutdown waits for all of it: also for what was not begun when it was called.
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

// A function that panics or exits its goroutine has ended, too.
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

// Tasks that wait their turn are not waited for longer than for that turn, and don't
// run.
func TestShutdownAndTasksThatWaitTheirTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, g := newHand(), newGate()
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

// Inside a task, or the function of Drain, Shutdown waits for that too.
func TestShutdownInsideTask(t *testing.T) {
	var w *compat.TimingWheel
	var errs chan error
	inside := func(any, any) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		errs <- w.Shutdown(ctx)
	}
	kinds(t, inside, func(t *testing.T, of *compat.TimingWheel, forth func()) {
		w, errs = of, make(chan error, 1)
		require.NoError(t, w.SetTimer("a", nil, interval))
		forth()
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

// Whatever goes on beside it, nothing runs once Shutdown has returned nil. This is in
// real time, as a bubble's stands still while anything goes on.
func TestNothingRunsAfterShutdown(t *testing.T) {
	for name, make := range map[string]func(execute compat.Execute) (w *compat.TimingWheel, forth func()){
		"mock": func(execute compat.Execute) (*compat.TimingWheel, func()) {
			w, m := onMock(t, execute)
			return w, func() { m.Add(interval) }
		},
		"ticker": func(execute compat.Execute) (*compat.TimingWheel, func()) {
			h := newHand()
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
				w, forth := make(task)
				useUntilShutdown(t, w, task, forth, &over)
			}
			require.False(t, ran.Load())
		})
	}
}

// useUntilShutdown uses w from several goroutines until it is shut down by two, and
// sets over when both calls have returned.
func useUntilShutdown(t *testing.T, w *compat.TimingWheel, task compat.Execute, forth func(), over *atomic.Bool) {
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
			forth()
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

// Shutdown waits until the wheel has let go of its ticker: its owner may take it
// over, or close its channel.
func TestShutdownWaitsForTheTicker(t *testing.T) {
	l := logged(t)
	for range 300 {
		h := newHand()
		w := newTicking(t, 3, func(any, any) {}, h)
		require.NoError(t, w.Shutdown(t.Context()))
		require.EqualValues(t, 1, h.stops.Load())
		select {
		case h.c <- time.Time{}:
			t.Fatal("somebody receives ticks")
		default:
		}

		c := closer{make(chan time.Time, 1)}
		w = newTicking(t, 3, func(any, any) {}, c)
		c.Stop()
		require.NoError(t, w.Shutdown(t.Context()))
	}
	require.Empty(t, l.take(t))
}

// slow is a ticker whose Stop takes its time.
type slow struct{ *hand }

func (s slow) Stop() { <-s.stopped }

func TestShutdownAndSlowTicker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := slow{newHand()}
		w := newTicking(t, 3, func(any, any) {}, s)
		requireWaits(t, w, func() { close(s.stopped) })
	})
}
