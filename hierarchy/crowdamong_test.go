package hierarchy

import (
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/internal/handclock"
	"github.com/stretchr/testify/require"
)

// Between the timers of a crowd others may fire at once, or be made, and take no place on the
// wheel. Still it wakes to prepare the crowd.
func TestCrowdAmongWhatTakesNoPlace(t *testing.T) {
	const n, base = 20_000, int64(8) << 30
	for first := range int64(2) {
		clk := &handclock.Clock{}
		w, err := New(Config{Clock: clk, Shards: 2, Executor: Inline})
		require.NoError(t, err)
		for range first {
			_, err := w.AfterFunc(time.Duration(base)<<1, func() {})
			require.NoError(t, err)
		}
		for i := range uint64(n) {
			timer, err := w.NewFunc(func() {})
			require.NoError(t, err)
			timer.Reset(time.Duration(base + 1<<29 + int64(i*0x9E3779B97F4A7C15>>35)))
		}
		require.Less(t, clk.AimedAt(), base, "after %d timers", first)
	}
}
