package durable_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// Two that share the partitions on one mock clock fire at the very nanosecond, whoever was asked.
func TestMockClockOfTwo(t *testing.T) {
	urls, _ := natsServers(t, 1)
	mock := clock.NewMock()
	mock.Set(time.Date(2030, time.January, 1, 0, 0, 0, 0, time.UTC))
	due := mock.Now().Add(time.Hour)
	var mu sync.Mutex
	fired := make(map[string]time.Time)
	both := make([]*strs, 2)
	for i := range both {
		w, err := durable.Open(t.Context(), durable.Config[string, string]{
			Conn: connect(t, urls), Clock: mock,
			Handle: func(_ context.Context, f firing) error {
				mu.Lock()
				defer mu.Unlock()
				fired[f.Key] = f.Due
				return nil
			},
		})
		require.NoError(t, err)
		t.Cleanup(func() { w.Close() })
		both[i] = w
	}
	const n = 50
	for i := range n {
		require.NoError(t, both[i%2].Set(t.Context(), fmt.Sprint(i), "", time.Hour))
	}
	for i := range n {
		_, in, ok, err := both[i%3%2].Get(t.Context(), fmt.Sprint(i))
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, time.Hour, in)
	}
	mock.Add(time.Hour - 1)
	require.Empty(t, fired)
	mock.Add(1)
	require.Len(t, fired, n)
	for _, at := range fired {
		require.True(t, due.Equal(at))
	}
	left, err := both[0].Len(t.Context())
	require.NoError(t, err)
	require.Zero(t, left)
}
