package outbox_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/outbox"
)

// openFull returns timers whose only partition is full, with the keys that they have.
func openFull(t *testing.T, keys ...string) *keyed {
	w, err := durable.Open(t.Context(), durable.Config[string, string]{Dir: t.TempDir(), MaxPending: len(keys),
		Handle: (&fired{got: make(chan string, 1<<16)}).handle})
	require.NoError(t, err)
	t.Cleanup(func() { _ = w.Close() })
	for _, k := range keys {
		_, err := w.Set(t.Context(), k, "0", time.Hour)
		require.NoError(t, err)
	}
	return w
}

// A partition is full, with rows that have no room in front of those that make room or need none: these are applied.
func TestFullPartitionAppliesWhatNeedsNoRoom(t *testing.T) {
	databases(t, func(t *testing.T, d database) {
		const more = 200 // more than are tried for one page
		b, db := newBox(t, d)
		w := openFull(t, "removed", "moved", "there")
		ctx, at := t.Context(), time.Now().Add(3*time.Hour)
		tx := begin(t, db)
		for i := range more {
			require.NoError(t, b.Set(ctx, tx, fmt.Sprint("new", i), "1", time.Hour))
		}
		require.NoError(t, b.Remove(ctx, tx, "new1")) // has to wait for its own
		require.NoError(t, b.Set(ctx, tx, "there", "1", time.Hour))
		require.NoError(t, b.MoveAt(ctx, tx, "moved", at))
		require.NoError(t, b.Remove(ctx, tx, "removed"))
		require.NoError(t, tx.Commit())
		relay(t, b, w)
		awaitBacklog(t, b, func(l outbox.Backlog) bool { return l.Rows == more && l.Waiting == more })
		require.Equal(t, map[string]string{"new0": "1", "moved": "0", "there": "1"}, valuesOf(t, w))
		e, ok, err := w.Lookup(ctx, "moved")
		require.NoError(t, err)
		require.True(t, ok && e.Due.Equal(at))
	})
}
