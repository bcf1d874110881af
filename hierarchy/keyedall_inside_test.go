package hierarchy

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
)

// All looks at no more than a batch of memory under one hold of the lock, whether there are many
// keys in it or few.
func TestAllTakesABatchAtATime(t *testing.T) {
	const n, most = 20_000, 256
	w, err := NewKeyed(Config{Clock: clock.NewMock()}, func(int, int) {})
	require.NoError(t, err)
	defer w.Stop()
	for k := range n {
		require.NoError(t, w.Set(k, k, time.Hour))
	}
	requireBatches := func(keys, least int) {
		t.Helper()
		holds, came := 0, 0
		c := w.table.Cursor()
		some, ok := c.Take(nil)
		for ; ok; some, ok = c.Take(nil) {
			holds++
			require.LessOrEqual(t, len(some), most)
			came += len(some)
		}
		require.Equal(t, keys, came)
		require.GreaterOrEqual(t, holds, least)
	}
	requireBatches(n, n/most)
	for k := range n {
		if k%1000 != 0 {
			w.Remove(k)
		}
	}
	requireBatches(n/1000, n/1000) // each is in a chunk of its own
}
