package contexts

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/tests/internal/wheeltest"
)

// Timers of one instant fire in the order of setting. So a callback can cancel a context at
// its deadline if the timer of the context was set later.
func TestContextCancelledAtItsDeadline(t *testing.T) {
	w, m := wheeltest.OnMock(t, hierarchy.Config{})
	var cancels []context.CancelFunc
	later, cancelLater := context.Context(nil), func() { cancels[1]() }
	_, err := w.AfterFunc(time.Second, func() { cancelLater() })
	require.NoError(t, err)
	for range 2 {
		ctx, cancel := background(w)
		later, cancels = ctx, append(cancels, cancel)
		defer cancel()
	}
	first, cancelFirst := background(w)
	defer cancelFirst()
	_, err = w.AfterFunc(time.Second, cancelFirst)
	require.NoError(t, err)
	m.Add(time.Second)
	require.Equal(t, context.Canceled, later.Err(), "it was cancelled before")
	require.Equal(t, context.DeadlineExceeded, first.Err(), "it was cancelled afterwards")
	require.Equal(t, errLate, context.Cause(first))
}

// After its deadline, a context can be cancelled until its timer fires.
func TestContextCancelledPastItsDeadline(t *testing.T) {
	c := &wheeltest.LateClock{}
	w := wheeltest.New(t, hierarchy.Config{Clock: c})
	ctx, cancel := background(w)
	c.Time = time.Hour
	require.NoError(t, ctx.Err())
	cancel()
	require.Equal(t, context.Canceled, ctx.Err())
	c.Ring()
	require.Equal(t, context.Canceled, context.Cause(ctx))
	require.Zero(t, w.Len())
	require.EqualValues(t, 1, w.Stats().Stopped)
}

// The deadline is computed from the wall clock once.
func TestContextDeadline(t *testing.T) {
	w, m := wheeltest.OnMock(t, hierarchy.Config{})
	start := m.Now()
	ctx, cancel := w.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	m.Jump(time.Hour)
	m.Add(time.Second)
	deadline, ok := ctx.Deadline()
	require.True(t, ok)
	require.Equal(t, start.Add(time.Minute), deadline)

	s := wheeltest.New(t, hierarchy.Config{Clock: clock.System()})
	before := time.Now()
	ctx, cancel = s.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	deadline, _ = ctx.Deadline()
	require.False(t, deadline.Before(before.Add(time.Minute)) || deadline.After(time.Now().Add(time.Minute)))
}
