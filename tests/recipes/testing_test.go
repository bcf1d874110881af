package recipes

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// lamp turns itself off after three minutes.
type lamp struct {
	wheel *hierarchy.Wheel
	on    atomic.Bool
}

func newLamp(c clock.Clock) (*lamp, error) {
	w, err := hierarchy.New(hierarchy.Config{Clock: c})
	return &lamp{wheel: w}, err
}

func (l *lamp) push() error {
	l.on.Store(true)
	_, err := l.wheel.AfterFunc(3*time.Minute, func() { l.on.Store(false) })
	return err
}

func TestLampGoesOut(t *testing.T) {
	m := clock.NewMock()
	l, err := newLamp(m) // in production: newLamp(nil)
	require.NoError(t, err)
	defer l.wheel.Stop()

	require.NoError(t, l.push())
	m.Add(3*time.Minute - 1)
	require.True(t, l.on.Load())
	m.Add(1)
	require.False(t, l.on.Load())
}

// poll calls ask every minute until it returns true.
func poll(ctx context.Context, w *hierarchy.Wheel, ask func() bool) error {
	for !ask() {
		if err := w.Sleep(ctx, time.Minute); err != nil {
			return err
		}
	}
	return nil
}

func TestPollInItsOwnGoroutine(t *testing.T) {
	m := clock.NewMock()
	w, err := hierarchy.New(hierarchy.Config{Clock: m})
	require.NoError(t, err)
	defer w.Stop()

	ctx := context.Background()
	asked, result := 0, make(chan error, 1)
	go func() {
		result <- poll(ctx, w, func() bool { asked++; return asked == 3 })
	}()
	for range 2 {
		require.NoError(t, m.WaitFor(ctx, 1)) // until it sleeps
		m.Add(time.Minute)
	}
	require.NoError(t, <-result)
	require.Equal(t, 2*time.Minute, m.Elapsed())
}

func TestPollInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, err := hierarchy.New(hierarchy.Config{}) // uses the bubble's clock
		require.NoError(t, err)
		defer w.Stop()

		begin, asked := time.Now(), 0
		err = poll(t.Context(), w, func() bool { asked++; return asked == 3 })
		require.NoError(t, err)
		require.Equal(t, 2*time.Minute, time.Since(begin))
	})
}

func TestStepByStep(t *testing.T) {
	m := clock.NewMock()
	w, err := hierarchy.New(hierarchy.Config{Clock: m})
	require.NoError(t, err)
	defer w.Stop()
	_, err = w.AfterFunc(90*time.Second, func() {})
	require.NoError(t, err)

	next, ok := m.Next()
	require.True(t, ok)
	require.Equal(t, 90*time.Second, next)
	m.AddNext() // moves to exactly that deadline
	_, ok = m.Next()
	require.False(t, ok)
}

// A lease is renewed for another minute by a goroutine. The test waits for that.
func TestLeaseIsRenewed(t *testing.T) {
	m := clock.NewMock()
	w, err := hierarchy.New(hierarchy.Config{Clock: m})
	require.NoError(t, err)
	defer w.Stop()

	lease, err := w.AfterFunc(time.Minute, func() { t.Error("the lease has ended") })
	require.NoError(t, err)
	m.Add(50 * time.Second)
	go lease.Reset(time.Minute)
	require.NoError(t, m.WaitNext(t.Context(), time.Minute))
	m.Add(50 * time.Second)
}
