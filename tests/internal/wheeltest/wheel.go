// Package wheeltest has what the tests of wheels share: ways to make wheels and timers, clocks to make them late, and
// what holds of each wheel.
package wheeltest

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// New returns a wheel that is stopped when the test ends.
func New(tb testing.TB, cfg hierarchy.Config) *hierarchy.Wheel {
	tb.Helper()
	w, err := hierarchy.New(cfg)
	require.NoError(tb, err)
	tb.Cleanup(w.Stop)
	return w
}

// OnMock returns a wheel on a mock clock of its own.
func OnMock(tb testing.TB, cfg hierarchy.Config) (*hierarchy.Wheel, *clock.Mock) {
	m := clock.NewMock()
	cfg.Clock = m
	return New(tb, cfg), m
}

// OnSystem returns a wheel on the runtime's clock with the finest Precision. Inside a
// synctest bubble nothing is late by more than a nanosecond.
func OnSystem(tb testing.TB, cfg hierarchy.Config) *hierarchy.Wheel {
	cfg.Clock, cfg.Precision = clock.System(), 1
	return New(tb, cfg)
}

// Set sets a timer.
func Set(t *testing.T, w *hierarchy.Wheel, d time.Duration, f func()) hierarchy.Timer {
	t.Helper()
	timer, err := w.AfterFunc(d, f)
	require.NoError(t, err)
	return timer
}

// Pass lets d pass in a synctest bubble and waits until all goroutines block.
func Pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// RequireBalance requires that Stats accounts for every timer that was set.
func RequireBalance(t *testing.T, w *hierarchy.Wheel) {
	t.Helper()
	st := w.Stats()
	require.Equal(t, st.Fired+st.Stopped+st.Drained+st.Dropped+uint64(st.Pending), st.Scheduled)
	require.Equal(t, w.Len(), st.Pending)
}

// RequireIdle requires that Shutdown has nothing to wait for.
func RequireIdle(t *testing.T, w *hierarchy.Wheel) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, w.Shutdown(ctx))
}

// Executors returns the executors to test under a real clock, by name.
func Executors() map[string]hierarchy.Executor {
	return map[string]hierarchy.Executor{
		"Go": hierarchy.Go, "Inline": hierarchy.Inline, "Pool": hierarchy.Pool(2),
		"own": func(task func()) { go task() },
	}
}

// Rough returns a configuration whose Precision is a minute, so that what is gathered is
// late by a lot.
func Rough(executor hierarchy.Executor) hierarchy.Config {
	return hierarchy.Config{
		Clock: clock.System(), Executor: executor, Precision: time.Minute, Interval: time.Hour,
	}
}
