package outbox_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/outbox"
)

// hanging is timers of which one partition, the one that is full, does not answer until the context ends.
type hanging struct {
	*keyed
	others chan struct{} // receives when the others have answered
}

func (h *hanging) Batch(ctx context.Context, b *batch) error {
	err := h.keyed.Batch(ctx, b)
	if err != nil {
		select {
		case h.others <- struct{}{}:
		default:
		}
		<-ctx.Done()
	}
	return err
}

// openHanging returns timers whose partition 1 hangs, a key of each partition, and where the keys arrive that fire.
func openHanging(t *testing.T) (*hanging, map[int][]string, *fired) {
	f := &fired{got: make(chan string, 1<<16)}
	cfg := onServers(t, 2, f)
	w, err := durable.Open(t.Context(), cfg)
	require.NoError(t, err)
	keys := keysByPartition(t, w)
	require.NoError(t, w.Close())
	const room = 20
	cfg.Name, cfg.MaxPending = "full", room
	w, err = durable.Open(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { _ = w.Close() })
	for _, k := range keys[1][:room] {
		_, err := w.Set(t.Context(), k, "", time.Hour)
		require.NoError(t, err)
	}
	keys[1] = keys[1][room:]
	return &hanging{w, make(chan struct{}, 1)}, keys, f
}

// A partition does not answer: its rows wait, and those of the others are passed on once.
func TestHungPartitionHoldsUpNoOther(t *testing.T) {
	b, db := newBox(t, sqliteIn(t.TempDir()), func(c *outbox.Config[string, string]) { c.Lease = 4 * time.Second })
	h, keys, f := openHanging(t)
	insert(t, b, db, "v", 0, keys[0][0], keys[1][0], keys[0][1], keys[1][1])
	relay(t, b, h)
	awaitBacklog(t, b, func(l outbox.Backlog) bool { return len(f.got) > 2 || l.Rows == 2 && l.Waiting == 2 })
	require.Len(t, f.got, 2, "rows are passed on again")
	require.ElementsMatch(t, keys[0][:2], []string{<-f.got, <-f.got})
	attempts, _, _ := reasonOf(t, db, keys[1][0])
	require.Positive(t, attempts)
}

// The relay is stopped while a partition does not answer: the rows that were passed on are deleted before Relay returns.
func TestStoppedWhileAPartitionHangs(t *testing.T) {
	b, db := newBox(t, sqliteIn(t.TempDir()), func(c *outbox.Config[string, string]) { c.Lease = time.Hour })
	h, keys, _ := openHanging(t)
	insert(t, b, db, "v", 0, keys[0][0], keys[1][0])
	stop := relay(t, b, h)
	<-h.others
	stop()
	l, err := b.Backlog(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, l.Rows)
}

// absent is timers of which one partition, the one that is full, has no leader.
type absent struct{ *keyed }

func (a absent) Batch(ctx context.Context, b *batch) error {
	if a.keyed.Batch(ctx, b) != nil {
		return durable.ErrUnavailable // for the operations that have an error
	}
	return nil
}

// The first pages have only rows of a partition that is not available: those behind them are passed on nevertheless.
func TestAbsentPartitionHoldsUpNoOther(t *testing.T) {
	databases(t, func(t *testing.T, d database) {
		b, db := newBox(t, d)
		h, keys, f := openHanging(t)
		for _, k := range keys[1][:9] { // two pages
			insert(t, b, db, strings.Repeat("v", 60<<10), 0, k)
		}
		insert(t, b, db, "v", 0, keys[0][0])
		relay(t, b, absent{h.keyed})
		require.Equal(t, keys[0][0], <-f.got)
		awaitBacklog(t, b, func(l outbox.Backlog) bool { return l.Rows == 9 && l.Waiting == 9 })
		attempts, _, failed := reasonOf(t, db, keys[1][0])
		require.Positive(t, attempts)
		require.Contains(t, failed.String, durable.ErrUnavailable.Error())
	})
}
