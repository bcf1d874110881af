package hierarchy

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Between the timers of a crowd others may fire at once, or be made, and take no place on the
// wheel. Still it wakes to prepare the crowd.
func TestCrowdAmongWhatTakesNoPlace(t *testing.T) {
	const n, base = 20_000, int64(8) << 30
	for first := range int64(2) {
		clk := &handClock{}
		c := twoShards(t, clk)
		w := &Wheel{core: c}
		for range first {
			setOn(c, 0, base<<1, func() {})
		}
		for i := range uint64(n) {
			timer, err := w.NewFunc(func() {})
			require.NoError(t, err)
			timer.Reset(time.Duration(base + 1<<29 + int64(i*0x9E3779B97F4A7C15>>35)))
		}
		require.Less(t, clk.aim, base, "after %d timers", first)
	}
}
