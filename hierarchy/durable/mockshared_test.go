package durable_test

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// firedDue is when timers that have fired were due, by their keys.
type firedDue struct {
	mu sync.Mutex
	at map[string]time.Time
}

func (d *firedDue) handle(_ context.Context, f firing) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.at == nil {
		d.at = make(map[string]time.Time)
	}
	d.at[f.Key] = f.Due
	return nil
}

func (d *firedDue) all() map[string]time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return maps.Clone(d.at)
}

func openMocked(t *testing.T, urls string, mock *clock.Mock, fired *firedDue) *strs {
	w, err := durable.Open(t.Context(), durable.Config[string, string]{Conn: connect(t, urls), Clock: mock, Handle: fired.handle})
	require.NoError(t, err)
	t.Cleanup(func() { w.Close() })
	return w
}

// Two that share the partitions on one mock clock fire at the very nanosecond, whoever was asked.
func TestMockClockOfTwo(t *testing.T) {
	urls, _ := natsServers(t, 1)
	mock := clock.NewMock()
	mock.Set(time.Date(2030, time.January, 1, 0, 0, 0, 0, time.UTC))
	due := mock.Now().Add(time.Hour)
	var fired firedDue
	both := []*strs{openMocked(t, urls, mock, &fired), openMocked(t, urls, mock, &fired)}
	const n = 50
	for i := range n {
		require.NoError(t, errOf(both[i%2].Set(t.Context(), fmt.Sprint(i), "", time.Hour)))
	}
	for i := range n {
		_, in, ok, err := both[i%3%2].Get(t.Context(), fmt.Sprint(i))
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, time.Hour, in)
	}
	mock.Add(time.Hour - 1)
	require.Empty(t, fired.all())
	mock.Add(1)
	require.Len(t, fired.all(), n)
	for _, at := range fired.all() {
		require.True(t, due.Equal(at))
	}
	left, err := both[0].Len(t.Context())
	require.NoError(t, err)
	require.Zero(t, left)
}
