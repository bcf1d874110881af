package durable_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// A Batch with more for a partition than one message has room for says for which, how many, and of how many. That
// partition commits none, and the others all.
func TestBatchThatIsTooLargeForAPartition(t *testing.T) {
	urls, _ := natsServers(t, 1)
	r := new(record)
	owner := openShared(t, connect(t, urls), r, time.Minute)
	keys := keysOf(t, owner) // of the others as well
	for who, w := range map[string]*strs{
		"worker": owner,
		"caller": caller(t, urls),
	} {
		t.Run(who, func(t *testing.T) {
			var b durable.Batch[string, string]
			for i := range 2001 {
				b.Set(keys[3][i%len(keys[3])], "", time.Hour)
			}
			b.Set(keys[5][0], "", time.Hour)
			err := w.Batch(t.Context(), &b)
			require.ErrorIs(t, err, durable.ErrTooLarge)
			require.Regexp(t, `^durable: partition 3 of a Batch: too large: 2001 operations of about \d+ bytes, of at most 2000 and \d+$`, err.Error())
			for i := range 2001 {
				require.False(t, b.Took(i))
			}
			require.True(t, b.Took(2001))

			b.Reset()
			for i := range 200 {
				b.Set(fmt.Sprint(i), strings.Repeat("v", 64<<10), time.Hour)
			}
			for range 200 {
				b.Set(keys[3][0], strings.Repeat("v", 64<<10), time.Hour)
			}
			err = w.Batch(t.Context(), &b)
			require.ErrorIs(t, err, durable.ErrTooLarge)
			require.Regexp(t, `^durable: partition 3 of a Batch: too large: 2\d\d operations of about \d+ bytes, of at most 2000 and \d+$`, err.Error())
		})
	}
}

// A directory commits a Batch as a whole, or nothing of it.
func TestBatchThatIsTooLargeForADirectory(t *testing.T) {
	w := open(t, durable.Config[string, string]{Dir: t.TempDir(), Handle: new(record).handle})
	var b durable.Batch[string, string]
	for i := range 2000 {
		b.Set(fmt.Sprint(i), "value", time.Hour)
	}
	require.NoError(t, w.Batch(t.Context(), &b))
	b.Remove("0")
	err := w.Batch(t.Context(), &b)
	require.ErrorIs(t, err, durable.ErrTooLarge)
	require.ErrorContains(t, err, "too large: 2001 operations of about ")
	require.False(t, b.Took(0))
	requirePending(t, w, "0")

	b.Reset()
	for i := range 200 {
		b.Set(fmt.Sprint(i), strings.Repeat("v", 64<<10), time.Hour)
	}
	require.ErrorIs(t, w.Batch(t.Context(), &b), durable.ErrTooLarge)
}
