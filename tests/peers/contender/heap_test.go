package contender

import (
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// TestHeapTimers checks that the baseline is correct.
func TestHeapTimers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, began := newHeapTimers(), time.Now()
		defer h.close()
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
		require.Zero(t, h.count())
		require.Empty(t, h.items)
	})
}

func TestHeapReset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, began := newHeapTimers(), time.Now()
		defer h.close()
		var took []time.Duration
		f := func() { took = append(took, time.Since(began)) }
		earlier, later := h.afterFunc(time.Hour, f), h.afterFunc(time.Second, f)
		require.True(t, h.reset(earlier, time.Minute))
		require.True(t, h.reset(later, 2*time.Minute))
		time.Sleep(time.Hour)
		synctest.Wait()
		require.Equal(t, []time.Duration{time.Minute, 2 * time.Minute}, took)
		require.False(t, h.reset(earlier, time.Second))
	})
}
