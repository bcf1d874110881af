package tests

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	collection "github.com/epicycle-go/epicycle/compat"
)

// TestMigratedKeepAlive is the snippet of docs/migrating-from-go-zero.md.
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

// TestMigratedCache is the other snippet of that page.
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
