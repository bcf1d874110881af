package main

import (
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// TestHeapTimers holds that the baseline works: one that does not would be no
// comparison.
func TestHeapTimers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, began := newHeapTimers(), time.Now()
		defer close(h.done)
		var stopped []*item
		fired := 0
		for i := range 1000 {
			d := time.Duration(1 + rand.Int64N(int64(time.Minute)))
			it := h.afterFunc(d, func() {
				require.Equal(t, d, time.Since(began))
				fired++
			})
			if i%4 == 0 {
				stopped = append(stopped, it)
			}
			synctest.Wait()
		}
		for _, it := range stopped {
			require.True(t, h.stop(it))
			require.False(t, h.stop(it))
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, 750, fired)
		require.Empty(t, h.items)
	})
}
