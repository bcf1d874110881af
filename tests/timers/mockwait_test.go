package timers

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/tests/internal/wheeltest"
)

// WaitNext sees timers that are set, moved and stopped.
func TestWaitNextOfAWheel(t *testing.T) {
	w, m := wheeltest.OnMock(t, hierarchy.Config{})
	nearer, err := w.AfterFunc(time.Minute, nop)
	require.NoError(t, err)
	go func() {
		_, _ = w.AfterFunc(time.Hour, nop)
		nearer.Stop()
	}()
	require.NoError(t, m.WaitNext(t.Context(), time.Hour))
}

// The errors of WaitFor and WaitNext say what is pending.
func TestWaitsThatFail(t *testing.T) {
	w, m := wheeltest.OnMock(t, hierarchy.Config{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	requireSays := func(want string) {
		t.Helper()
		for _, err := range []error{m.WaitNext(ctx, 2*time.Second), m.WaitFor(ctx, 9)} {
			require.ErrorIs(t, err, context.Canceled)
			require.EqualError(t, err, "context canceled: "+want)
		}
	}
	requireSays("no timer is pending")
	_, err := w.AfterFunc(time.Minute, nop)
	require.NoError(t, err)
	m.Add(time.Second)
	requireSays("1 timer is pending, due in 59s")
	_, err = w.AfterFunc(time.Hour, nop)
	require.NoError(t, err)
	requireSays("2 timers are pending, the nearest is due in 59s")
}

// A Repeater that runs is pending, and has no deadline.
func TestWaitThatFailsDuringARun(t *testing.T) {
	w, m := wheeltest.OnMock(t, hierarchy.Config{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	wheeltest.Every(t, w, time.Second, func() {
		require.NoError(t, m.WaitFor(ctx, 1))
		require.EqualError(t, m.WaitFor(ctx, 2), "context canceled: 1 timer is pending")
	})
	m.Add(time.Second)
	require.EqualValues(t, 1, w.Stats().Fired)
}
