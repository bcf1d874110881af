package callbacks

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/tests/internal/wheeltest"
)

// Go and Pool get what is due within the call, and it takes no place under MaxPending.
// With other executors it takes a place.
func TestDueNowOnAFullWheel(t *testing.T) {
	for by, executor := range wheeltest.Executors() {
		t.Run(by, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := wheeltest.Rough(executor)
				cfg.MaxPending = 1
				w := wheeltest.New(t, cfg)
				other := wheeltest.Set(t, w, time.Hour, nop)
				direct := by == "Go" || by == "Pool"
				for range 3 {
					timer, err := w.AfterFunc(0, nop)
					_, scheduled := w.Schedule(past(), nop)
					require.ErrorIs(t, scheduled, hierarchy.ErrFull, "a Repeater keeps a place")
					if !direct {
						require.ErrorIs(t, err, hierarchy.ErrFull)
						continue
					}
					require.NoError(t, err)
					requireGone(t, timer)
					require.Equal(t, 1, w.Len())
				}
				require.True(t, other.Stop())
				wheeltest.Set(t, w, 0, nop)
				synctest.Wait()
				require.Zero(t, w.Len())
				wheeltest.Set(t, w, time.Hour, nop).Reset(0)
				synctest.Wait()
				wheeltest.Set(t, w, time.Hour, nop) // the place was given back
				wheeltest.RequireBalance(t, w)
				_, err := w.AfterFunc(time.Hour, nop)
				require.ErrorIs(t, err, hierarchy.ErrFull)
				if direct {
					require.Zero(t, w.Stats().Wakeups)
				}
			})
		})
	}
}

// requireGone requires that a timer was dispatched within the call that set it.
func requireGone(t *testing.T, timer hierarchy.Timer) {
	t.Helper()
	require.False(t, timer.Active())
	require.False(t, timer.Reset(time.Hour))
	require.False(t, timer.Reset(0))
	require.False(t, timer.Stop())
}

// Timers that were dispatched within the call differ, as others do, and name no timer that
// is set later.
func TestDueNowTimersDiffer(t *testing.T) {
	w := wheeltest.New(t, hierarchy.Config{Clock: clock.System()})
	seen := map[hierarchy.Timer]bool{}
	for range 100 {
		timer := wheeltest.Set(t, w, 0, nop)
		wheeltest.Set(t, w, time.Hour, nop)
		requireGone(t, timer)
		seen[timer] = true
	}
	require.Len(t, seen, 100)
	require.Equal(t, 100, w.Len())
}

// A callback never runs inside the call that sets it, in which a caller may hold locks.
func TestDueNowIsNeverInsideTheCall(t *testing.T) {
	for by, executor := range wheeltest.Executors() {
		t.Run(by, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := wheeltest.New(t, wheeltest.Rough(executor))
				keyed, err := hierarchy.NewKeyed(wheeltest.Rough(executor), func(_ int, f func()) { f() })
				require.NoError(t, err)
				defer keyed.Stop()
				var mu sync.Mutex
				fired := 0
				locked := func() { mu.Lock(); fired++; mu.Unlock() }
				mu.Lock()
				for _, set := range dueNow {
					set(t, w, locked)
				}
				require.NoError(t, keyed.Set(1, locked, 0))
				mu.Unlock()
				synctest.Wait()
				require.Equal(t, len(dueNow)+1, fired)
			})
		})
	}
}

// Channels are served within the call, whatever the executor.
func TestDueChannelsAreServedInTheCall(t *testing.T) {
	for by, executor := range wheeltest.Executors() {
		t.Run(by, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := wheeltest.Rough(executor)
				cfg.MaxPending = 1
				w := wheeltest.New(t, cfg)
				timer, err := w.NewTimer(0)
				require.NoError(t, err)
				require.Equal(t, time.Now(), <-timer.C)
				require.False(t, timer.Stop())
				require.False(t, timer.Reset(time.Hour))
				_, err = w.NewTimer(0)
				require.ErrorIs(t, err, hierarchy.ErrFull, "a ChanTimer keeps its place")
				require.True(t, timer.Reset(-1))
				require.True(t, timer.Reset(0), "nobody has received")
				require.Equal(t, time.Now(), <-timer.C)
				require.Empty(t, timer.C)
				c, err := w.After(0)
				require.NoError(t, err, "it takes no place")
				require.Equal(t, time.Now(), <-c)
				require.NoError(t, w.Sleep(t.Context(), 0))
				ctx, cancel := w.WithTimeout(t.Context(), 0)
				require.ErrorIs(t, ctx.Err(), context.DeadlineExceeded)
				cancel()
				require.Zero(t, w.Len())
				require.Zero(t, w.Stats().Wakeups)
				require.EqualValues(t, 4, w.Stats().Fired)
				require.EqualValues(t, 1, w.Stats().Moved)
				require.EqualValues(t, 4, w.Stats().Lateness.Count())
				wheeltest.RequireBalance(t, w)
			})
		})
	}
}

func TestDueNowOnAStoppedWheel(t *testing.T) {
	for by, executor := range wheeltest.Executors() {
		t.Run(by, func(t *testing.T) {
			cfg := wheeltest.Rough(executor)
			w := wheeltest.New(t, cfg)
			keyed, err := hierarchy.NewKeyed(cfg, func(int, int) { panic("fired") })
			require.NoError(t, err)
			of, err := hierarchy.NewOf(cfg, func(int) { panic("fired") })
			require.NoError(t, err)
			dropped := wheeltest.Set(t, w, time.Hour, nop)
			timer, err := w.NewTimer(time.Hour)
			require.NoError(t, err)
			w.Stop()
			keyed.Stop()
			of.Stop()
			bad := func() { panic("fired") }
			_, err = w.AfterFunc(0, bad)
			require.ErrorIs(t, err, hierarchy.ErrClosed)
			_, err = w.Schedule(past(), bad)
			require.ErrorIs(t, err, hierarchy.ErrClosed)
			c, err := w.After(0)
			require.ErrorIs(t, err, hierarchy.ErrClosed)
			require.Nil(t, c)
			_, err = w.NewTimer(0)
			require.ErrorIs(t, err, hierarchy.ErrClosed)
			require.False(t, timer.Reset(0))
			require.Empty(t, timer.C)
			require.False(t, dropped.Reset(0))
			require.ErrorIs(t, keyed.Set(1, 1, 0), hierarchy.ErrClosed)
			_, err = keyed.Move(1, 0)
			require.ErrorIs(t, err, hierarchy.ErrClosed)
			_, err = of.Set(1, 0)
			require.ErrorIs(t, err, hierarchy.ErrClosed)
			require.Zero(t, w.Stats().Fired+keyed.Stats().Fired+of.Stats().Fired)
			wheeltest.RequireIdle(t, w)
		})
	}
}
