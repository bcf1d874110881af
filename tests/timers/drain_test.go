package timers

import (
	"bytes"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/tests/internal/wheeltest"
)

// tens returns a wheel with several shards and pending keys 0 to n-1, whose deadlines are
// in ascending order. They were set in random order.
func tens(t *testing.T, n int, cfg hierarchy.Config) *hierarchy.Keyed[int, int] {
	cfg.Clock, cfg.Shards = clock.System(), 8
	w, err := hierarchy.NewKeyed(cfg, func(int, int) {})
	require.NoError(t, err)
	t.Cleanup(w.Stop)
	for _, k := range rand.Perm(n) {
		require.NoError(t, w.Set(k, 10*k, time.Duration(1+k)*time.Hour))
	}
	return w
}

// upTo returns 0 to n-1.
func upTo(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

func TestDrainIsInOrderOverAllShards(t *testing.T) {
	w := tens(t, 1000, hierarchy.Config{})
	var drained []int
	require.Equal(t, 1000, w.Drain(func(k, v int) {
		require.Equal(t, 10*k, v)
		drained = append(drained, k)
	}))
	require.Equal(t, upTo(1000), drained)
	require.Zero(t, w.Len())
}

// After a panic, Drain calls its function for all other timers before the panic continues
// in the caller.
func TestDrainFunctionThatPanics(t *testing.T) {
	w := tens(t, 30, hierarchy.Config{})
	var drained []int
	require.PanicsWithValue(t, "a bad one", func() {
		w.Drain(func(k, _ int) {
			drained = append(drained, k)
			if k == 10 {
				panic("a bad one")
			}
		})
	})
	require.Equal(t, upTo(30), drained)
	require.EqualValues(t, 30, w.Stats().Drained)
}

func TestDrainFunctionThatPanicsIsReported(t *testing.T) {
	var panics, drained []int
	w := tens(t, 30, hierarchy.Config{OnPanic: func(v any, _ []byte) { panics = append(panics, v.(int)) }})
	require.Equal(t, 30, w.Drain(func(k, _ int) {
		drained = append(drained, k)
		if k%10 == 0 {
			panic(k)
		}
	}))
	require.Equal(t, upTo(30), drained)
	require.Equal(t, []int{0, 10, 20}, panics)
	require.EqualValues(t, 3, w.Stats().Panics)
}

func TestDrainFunctionThatExits(t *testing.T) {
	w := tens(t, 30, hierarchy.Config{})
	var drained []int
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w.Drain(func(k, _ int) {
			drained = append(drained, k)
			if k%10 == 0 {
				runtime.Goexit()
			}
		})
	}()
	<-ended
	require.Equal(t, upTo(30), drained)
}

// However often the function panics or exits its goroutine, the stack does not grow.
func TestDrainFunctionThatFailsEachTime(t *testing.T) {
	failures := map[string]func(){"panic": func() { panic("a bad one") }, "exit": runtime.Goexit}
	for name, fail := range failures {
		t.Run(name, func(t *testing.T) {
			logged := captureLog(t)
			const n = 20_000
			w := tens(t, n, hierarchy.Config{})
			var drained []int
			deepest, recovered := 0, make(chan any)
			go func() {
				defer func() { recovered <- recover() }()
				w.Drain(func(k, _ int) {
					drained = append(drained, k)
					deepest = max(deepest, runtime.Callers(0, make([]uintptr, 1000)))
					fail()
				})
			}()
			if r := <-recovered; name == "panic" {
				require.Equal(t, "a bad one", r, "the first panic must continue in the caller")
				require.Contains(t, logged.String(), "times=19999 last=\"a bad one\"")
			}
			require.Equal(t, upTo(n), drained)
			require.Less(t, deepest, 100)
		})
	}
}

// captureLog redirects the log to a buffer.
func captureLog(t *testing.T) *bytes.Buffer {
	var b bytes.Buffer
	before := slog.Default()
	t.Cleanup(func() { slog.SetDefault(before) })
	slog.SetDefault(slog.New(slog.NewTextHandler(&b, nil)))
	return &b
}

// Drain calls its function after it has taken out all timers, without holding a lock.
func TestDrainFunctionUsesItsWheel(t *testing.T) {
	w := tens(t, 30, hierarchy.Config{MaxPending: 30})
	ended := make(chan int, 1)
	go func() {
		ended <- w.Drain(func(k, _ int) {
			require.NoError(t, w.Set(k+100, k, time.Hour))
			require.Equal(t, k+1, w.Len())
		})
	}()
	select {
	case n := <-ended:
		require.Equal(t, 30, n)
	case <-time.After(time.Minute):
		t.Fatal("a call in Drain's function does not return")
	}
	var again []int
	require.Equal(t, 30, w.Drain(func(k, _ int) { again = append(again, k) }))
	slices.Sort(again)
	require.Equal(t, 100, again[0])
	require.Equal(t, 129, again[29])
}

// Drain is called inside a callback of a mock, and its function moves that mock. That
// panics at each call, also after the first panic, when the rest is passed in another
// goroutine. There it must not wait for the move that it is part of.
func TestDrainFunctionThatMovesTheMockInsideACallback(t *testing.T) {
	w, m := wheeltest.OnMock(t, hierarchy.Config{})
	k, err := hierarchy.NewKeyed(hierarchy.Config{Clock: m}, func(int, int) {})
	require.NoError(t, err)
	for i := range 3 {
		require.NoError(t, k.Set(i, i, time.Hour))
	}
	calls := 0
	_, err = w.AfterFunc(1, func() {
		defer func() { _ = recover() }()
		k.Drain(func(int, int) {
			calls++
			m.Add(1)
		})
	})
	require.NoError(t, err)
	moved := make(chan struct{})
	go func() { defer close(moved); m.Add(2) }()
	select {
	case <-moved:
	case <-time.After(time.Minute):
		t.Fatal("Add waits for itself")
	}
	require.Equal(t, 3, calls)
}
