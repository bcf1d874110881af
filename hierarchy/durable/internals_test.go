package durable

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// OpenOf is Open of a process that shares a storage, for package durable_test.
func OpenOf(ctx context.Context, cfg Config[string, string], set storage.Set) (*Keyed[string, string], error) {
	cfg.Conn, cfg.Partitions = new(nats.Conn), set.Partitions // nothing connects
	w, err := newKeyed(cfg)
	if err != nil {
		return nil, err
	}
	shared := w.config()
	w.owners, err = shared.open(ctx, set)
	return w, err
}

// Keys that are counted up are dealt evenly, whatever the number of partitions.
func TestKeysAreDealtEvenly(t *testing.T) {
	const n = 100_000
	for _, partitions := range []int{1, 2, 3, 8, 100} {
		for _, format := range []string{"key%d", "%d", "order/%08d", "%d/session"} {
			count := make([]int, partitions)
			for i := range n {
				count[of(fmt.Appendf(nil, format, i), partitions)]++
			}
			mean := n / partitions
			for _, c := range count {
				require.InDelta(t, mean, c, 0.2*float64(mean), "%s over %d", format, partitions)
			}
		}
	}
}

// The partition of a key is part of the format.
func TestPartitionsOfKeysStay(t *testing.T) {
	require.Equal(t, []int{7, 4, 2}, []int{of(nil, 8), of([]byte("a"), 8), of([]byte("order/1"), 8)})
}

func TestBackoff(t *testing.T) {
	for attempt, want := range map[int]time.Duration{-1: time.Second, 1: time.Second, 2: 2 * time.Second, 10: 512 * time.Second,
		11: 10 * time.Minute, 12: 10 * time.Minute, 1 << 30: 10 * time.Minute} {
		for range 100 {
			d := backoff(attempt)
			require.LessOrEqual(t, d, want)
			require.GreaterOrEqual(t, d, want/2)
		}
	}
}
