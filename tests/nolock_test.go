package tests

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// callAll calls every method of a Wheel and of what it makes.
func callAll(w *wheel, c clock.Clock, own hierarchy.Timer) {
	own.Stop()
	own.Reset(time.Hour)
	own.Active()
	own.Remaining()
	timer, _ := w.AfterFunc(time.Hour, func() {})
	timer.Reset(time.Minute)
	timer.Remaining()
	timer.Stop()
	timer, _ = w.At(c.Now().Add(time.Hour), func() {})
	timer.Stop()
	if r, err := w.Every(time.Hour, func() {}); err == nil {
		r.Reset(time.Minute)
		r.Stop()
	}
	if r, err := w.Schedule(once(c.Now().Add(time.Hour)), func() {}); err == nil {
		r.Stop()
	}
	_, _ = w.After(time.Hour)
	if timer, err := w.NewTimer(time.Hour); err == nil {
		timer.Reset(time.Minute)
		timer.Stop()
	}
	if ticker, err := w.NewTicker(time.Hour); err == nil {
		ticker.Reset(time.Minute)
		ticker.Stop()
	}
	_ = w.Sleep(canceled(), time.Hour)
	x, cancel := w.WithTimeout(context.Background(), time.Hour)
	_ = x.Err()
	cancel()
	_, cancel = w.WithDeadline(context.Background(), c.Now().Add(time.Hour))
	cancel()
	_, cancel = w.WithTimeoutCause(context.Background(), time.Hour, nil)
	cancel()
	_, _, _ = w.Len(), w.Stats(), w.Circles()
}

// A callback can call every method of its own wheel. It would deadlock if the wheel held
// a lock.
func TestCallbackMayCallAnything(t *testing.T) {
	onEachTurn(t, func(t *testing.T, x turn, cfg hierarchy.Config) {
		called := 0
		cfg.MaxPending = 1000
		w := newWheel(t, cfg)
		returns(t, func() {
			var own hierarchy.Timer
			own, _ = w.AfterFunc(time.Second, func() { callAll(w, x.clock, own); called++ })
			r, _ := w.Every(time.Second, func() { callAll(w, x.clock, own) })
			_, _ = w.Schedule(callingSchedule(func() { callAll(w, x.clock, own); called++ }), func() {})
			_, _ = w.AfterFunc(2*time.Second, func() {
				r.Stop()
				w.Stop()
				w.Stop()
				callAll(w, x.clock, own)
				called++
			})
			x.goOnBy(time.Second)
			x.goOnBy(time.Second)
		})
		require.GreaterOrEqual(t, called, 3)
	})
}

// callingSchedule is a Schedule whose Next calls a function.
type callingSchedule func()

func (f callingSchedule) Next(now time.Time) time.Time {
	f()
	return now.Add(time.Second)
}

func TestCallbackOfKeyedMayCallAnything(t *testing.T) {
	onEachTurn(t, func(t *testing.T, x turn, cfg hierarchy.Config) {
		var w *keyed
		called := 0
		all := func(k string, v int) {
			called++
			_ = w.Set(k, v, time.Hour)
			_, _, _ = w.Swap(k, v, time.Minute)
			_, _ = w.Move(k, time.Hour)
			_, _, _ = w.Get(k)
			_, _ = w.Value(k)
			_, _ = w.Remove(k)
			_, _, _ = w.Len(), w.Stats(), w.Circles()
		}
		w = newKeyed(t, cfg, func(k string, v int) {
			all(k, v)
			_ = w.Set("drained", 1, time.Hour)
			w.Drain(func(k string, v int) {
				all(k, v)
				w.Drain(all)
			})
			if v == 2 {
				w.Stop()
				all(k, v)
			}
		})
		returns(t, func() {
			_ = w.Set("a", 1, time.Second)
			x.goOnBy(time.Second)
			_ = w.Set("b", 2, time.Second)
			x.goOnBy(time.Second)
		})
		require.Equal(t, 5, called)
	})
}

// OnPanic can call every method of the wheel, too.
func TestOnPanicMayCallAnything(t *testing.T) {
	onEachTurn(t, func(t *testing.T, x turn, cfg hierarchy.Config) {
		var w *wheel
		called := 0
		cfg.OnPanic = func(any, []byte) { callAll(w, x.clock, hierarchy.Timer{}); called++ }
		w = newWheel(t, cfg)
		returns(t, func() {
			_, _ = w.AfterFunc(1, func() { panic("in a test") })
			x.goOnBy(1)
		})
		require.Equal(t, 1, called)
	})
}

// While a callback runs, other goroutines can call every method of the wheel.
func TestOthersMayCallWhileACallbackRuns(t *testing.T) {
	onEachTurn(t, func(t *testing.T, x turn, cfg hierarchy.Config) {
		w := newWheel(t, cfg)
		mustSet(t, w, 1, func() {
			returns(t, func() { callAll(w, x.clock, hierarchy.Timer{}) })
		})
		x.goOnBy(1)
		require.Zero(t, w.Stats().Running)
	})
}

// Shutdown in a callback waits for that callback, too. It returns when its context ends,
// and a later Shutdown returns nil.
func TestShutdownInsideACallbackEndsWithItsContext(t *testing.T) {
	for name, executor := range raceExecutors {
		t.Run(name, func(t *testing.T) {
			m := clock.NewMock()
			w := newWheel(t, hierarchy.Config{Clock: m, Executor: executor})
			got := make(chan error, 1)
			mustSet(t, w, 1, func() {
				require.Equal(t, 1, w.Stats().Running)
				got <- w.Shutdown(canceled())
			})
			returns(t, func() { m.Add(1) })
			require.ErrorIs(t, <-got, context.Canceled)
			require.NoError(t, w.Shutdown(context.Background()))
		})
	}
}

// Moving a mock inside one of its callbacks would deadlock. It panics with the package's
// name instead. Moving another mock there is allowed.
func TestMovingAMockInsideItsCallbackPanics(t *testing.T) {
	for name, executor := range raceExecutors {
		t.Run(name, func(t *testing.T) {
			m, other := clock.NewMock(), clock.NewMock()
			w := newWheel(t, hierarchy.Config{Clock: m, Executor: executor})
			for _, move := range []func(){
				func() { m.Add(0) }, func() { m.Add(time.Hour) }, func() { m.Set(m.Now()) }, func() { m.AddNext() },
			} {
				var said any
				mustSet(t, w, time.Second, func() {
					defer func() { said = recover() }()
					other.Add(time.Second)
					move()
				})
				returns(t, func() { m.Add(time.Second) })
				require.True(t, strings.HasPrefix(fmt.Sprint(said), "clock: "), "%v", said)
			}
			require.Equal(t, 4*time.Second, m.Elapsed())
		})
	}
}
