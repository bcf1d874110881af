package timers

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/tests/internal/wheeltest"
)

// sleeping starts a Sleep of a second and returns a channel for its error.
func sleeping(ctx context.Context, w *hierarchy.Wheel) <-chan error {
	woken := make(chan error, 1)
	go func() { woken <- w.Sleep(ctx, time.Second) }()
	return woken
}

func TestSleep(t *testing.T) {
	w, m := wheeltest.OnMock(t, hierarchy.Config{})
	woken := sleeping(t.Context(), w)
	require.NoError(t, m.WaitFor(t.Context(), 1))
	m.Add(time.Second - 1)
	require.Empty(t, woken)
	m.Add(1)
	require.NoError(t, <-woken)
}

func TestSleepIsExact(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wheeltest.OnSystem(t, hierarchy.Config{})
		for _, d := range []time.Duration{1, time.Millisecond, time.Hour} {
			time.Sleep(time.Millisecond) // so that the last wake-up is a Precision ago
			start := time.Now()
			require.NoError(t, w.Sleep(t.Context(), d))
			require.Equal(t, d, time.Since(start))
		}
	})
}

func TestSleepUntilCancelled(t *testing.T) {
	w, m := wheeltest.OnMock(t, hierarchy.Config{MaxPending: 1})
	ctx, cancel := context.WithCancel(t.Context())
	woken := sleeping(ctx, w)
	require.NoError(t, m.WaitFor(t.Context(), 1))
	cancel()
	require.ErrorIs(t, <-woken, context.Canceled)
	require.Zero(t, w.Len(), "Sleep must stop its timer")
	require.EqualValues(t, 1, w.Stats().Stopped)
	_, err := w.AfterFunc(0, nop)
	require.NoError(t, err, "Sleep must free its place")
}

func TestSleepUntilWheelStops(t *testing.T) {
	w, m := wheeltest.OnMock(t, hierarchy.Config{})
	woken := sleeping(t.Context(), w)
	require.NoError(t, m.WaitFor(t.Context(), 1))
	w.Stop()
	require.ErrorIs(t, <-woken, hierarchy.ErrClosed)
	require.EqualValues(t, 1, w.Stats().Dropped)
	wheeltest.RequireBalance(t, w)
}

func TestSleepThatNeedNotWait(t *testing.T) {
	w, _ := wheeltest.OnMock(t, hierarchy.Config{})
	for _, d := range []time.Duration{0, -1, -time.Hour} {
		require.NoError(t, w.Sleep(t.Context(), d))
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	late, cancel := context.WithDeadline(t.Context(), time.Time{})
	defer cancel()
	for _, d := range []time.Duration{0, time.Hour} {
		require.ErrorIs(t, w.Sleep(done, d), context.Canceled)
		require.ErrorIs(t, w.Sleep(late, d), context.DeadlineExceeded)
	}
	w.Stop()
	require.ErrorIs(t, w.Sleep(t.Context(), 0), hierarchy.ErrClosed)
	require.Zero(t, w.Stats().Scheduled)
}

func TestSleepOnItsOwnContext(t *testing.T) {
	m := clock.NewMock()
	w := wheeltest.New(t, hierarchy.Config{Clock: m})
	ctx, cancel := w.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	woken := sleeping(ctx, w)
	require.NoError(t, m.WaitFor(t.Context(), 2))
	m.Add(time.Millisecond)
	require.ErrorIs(t, <-woken, context.DeadlineExceeded)
	require.Zero(t, w.Len())
}

// lateDone is a context that lets something happen just before Sleep waits.
type lateDone struct {
	context.Context
	happen func()
}

func (c lateDone) Done() <-chan struct{} { c.happen(); return c.Context.Done() }

func TestSleepThatIsOver(t *testing.T) {
	for range 100 {
		w, m := wheeltest.OnMock(t, hierarchy.Config{})
		ctx, cancel := context.WithCancel(t.Context())
		require.NoError(t, w.Sleep(lateDone{ctx, func() { m.Add(time.Second); w.Stop(); cancel() }}, time.Second))
	}
}
