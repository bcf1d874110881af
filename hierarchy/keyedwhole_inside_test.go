package hierarchy

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/internal/handclock"
)

func TestKeysMovedToOneInstant(t *testing.T) {
	const n = 100_000
	synctest.Test(t, func(t *testing.T) {
		var fired atomic.Int64
		w, err := NewKeyed(Config{Clock: clock.System(), Executor: Inline}, func(int, int) { fired.Add(1) })
		require.NoError(t, err)
		defer w.Stop()
		for k := range n {
			_ = w.Set(k, k, time.Second)
		}
		for k := range n {
			_, _ = w.Move(k*7919%n, time.Second)
		}
		require.EqualValues(t, n, w.Stats().Moved)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		require.EqualValues(t, n, fired.Load())
		require.Zero(t, w.Len())
	})
}

func TestStoppedKeyedHoldsNoIndex(t *testing.T) {
	w, err := NewKeyed(Config{Clock: &handclock.Clock{}, Shards: 4}, func(int, int) {})
	require.NoError(t, err)
	for k := range 10_000 {
		require.NoError(t, w.Set(k, k, time.Hour))
	}
	w.Stop()
	require.True(t, w.table.Empty())
	for _, s := range w.core.Shards {
		require.Nil(t, s.Timers)
	}
	_, _, ok := w.Get(1)
	require.False(t, ok)
}
