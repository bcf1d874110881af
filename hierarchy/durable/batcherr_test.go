package durable_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// Each operation of a Batch has the error of its own partition, and no other.
func TestErrorsOfABatch(t *testing.T) {
	urls, _ := natsServers(t, 1)
	cfg := durable.Config[string, string]{Conn: connect(t, urls), Partitions: 2, Lease: time.Minute, Handle: new(record).handle}
	keys := keysOf(t, open(t, cfg))
	cfg.Name, cfg.MaxPending = "full", 2
	w := open(t, cfg)
	var b durable.Batch[string, string]
	b.Set(keys[0][0], "", time.Hour)
	require.Error(t, b.Err(0), "it was not done yet")
	b.Set(keys[0][1], "", time.Hour)
	require.NoError(t, w.Batch(t.Context(), &b))
	require.NoError(t, b.Err(0))

	b.Reset()
	b.Set(keys[0][2], "", time.Hour) // there is no room for it
	b.Set(keys[1][0], "", time.Hour)
	b.Move(keys[0][0], time.Minute) // neither without it
	b.Move(keys[1][1], time.Minute) // there is none
	err := w.Batch(t.Context(), &b)
	require.ErrorIs(t, err, durable.ErrFull)
	for i, full := range []bool{true, false, true, false} {
		if full {
			requireOurs(t, b.Err(i), durable.ErrFull)
		} else {
			require.NoError(t, b.Err(i))
		}
		require.Equal(t, i == 1, b.Took(i))
	}

	b.Reset()
	b.Set(keys[1][0], "", time.Hour)
	b.Set(keys[1][1], strings.Repeat("v", 70_000), time.Hour)
	require.ErrorIs(t, w.Batch(t.Context(), &b), durable.ErrTooLarge)
	for i := range 2 {
		require.ErrorIs(t, b.Err(i), durable.ErrTooLarge)
		require.False(t, b.Took(i))
	}
}
