package tests

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	collection "github.com/epicycle-go/epicycle/compat"
)

// What docs/migrating-from-go-zero.md shows and says.

func TestMigratedKeepAlive(t *testing.T) {
	mock := clock.NewMock()
	var closed []any
	wheel, err := collection.NewTimingWheelWithClock(time.Second, 300, func(key, _ any) {
		closed = append(closed, key)
	}, mock)
	require.NoError(t, err)
	defer wheel.Stop()

	require.NoError(t, wheel.SetTimer("connection", nil, 30*time.Second))
	mock.Add(29 * time.Second)
	require.NoError(t, wheel.MoveTimer("connection", 30*time.Second)) // it is alive
	mock.Add(30*time.Second - 1)
	require.Empty(t, closed)
	mock.Add(1)
	require.Equal(t, []any{"connection"}, closed)
}

func TestMigratedShutdown(t *testing.T) { synctest.Test(t, shutdown) }

func shutdown(t *testing.T) {
	wheel, err := collection.NewTimingWheel(time.Second, 300, func(key, _ any) { t.Errorf("%v ran", key) })
	require.NoError(t, err)
	var flushed atomic.Int32
	flush := func(_, _ any) { flushed.Add(1) }
	for key := range 100 {
		require.NoError(t, wheel.SetTimer(key, nil, time.Hour))
	}

	require.NoError(t, wheel.Drain(flush))
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	require.NoError(t, wheel.Shutdown(ctx))

	require.EqualValues(t, 100, flushed.Load())
}

func TestMigratedDrain(t *testing.T) {
	mock := clock.NewMock()
	wheel, err := collection.NewTimingWheelWithClock(time.Second, 300, func(any, any) {}, mock)
	require.NoError(t, err)
	defer wheel.Stop()

	var flushed []any
	require.NoError(t, wheel.SetTimer("late", nil, time.Hour))
	require.NoError(t, wheel.SetTimer("soon", nil, time.Second))
	require.NoError(t, wheel.Drain(func(key, _ any) { flushed = append(flushed, key) }))
	require.Equal(t, []any{"soon", "late"}, flushed)
}

// The cache of that page expires within its jitter.
func TestMigratedCache(t *testing.T) {
	mock := clock.NewMock()
	cache, err := collection.NewCache(time.Minute, collection.WithClock(mock))
	require.NoError(t, err)
	defer cache.Close()

	cache.Set("key", "value")
	mock.Add(57*time.Second - 1) // 5 % less than a minute
	require.Equal(t, 1, cache.Len())
	mock.Add(6*time.Second + 1) // 5 % more
	require.Zero(t, cache.Len())
}
