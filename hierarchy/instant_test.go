package hierarchy

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
)

// Callbacks that move their neighbours of one instant leave the slot sorted, so that
// the instant costs n log n at most, not n times n.
func TestMovesWithinOneInstantKeepItSorted(t *testing.T) {
	for name, to := range map[string]time.Duration{"the same": 0, "a later": 5, "much later": time.Hour} {
		t.Run(name, func(t *testing.T) {
			const n = 2000
			m := clock.NewMock()
			var timers []Timer
			var w *Of[int]
			fired, unsorted := 0, 0
			w, err := NewOf(Config{Clock: m}, func(i int) {
				fired++
				timers[(i+n/2)%n].Reset(to)
				s := w.core.shards[0].timers
				if s == nil || s.occupied == 0 {
					return
				}
				if k, slot, _ := s.first(); s.circle[k].Len(slot) > s.crowd && !s.circle[k].Sorted(slot) {
					unsorted++
				}
			})
			require.NoError(t, err)
			defer w.Stop()
			for i := range n {
				timer, err := w.Set(i, time.Second)
				require.NoError(t, err)
				timers = append(timers, timer)
			}
			m.Add(time.Second + 5)
			require.GreaterOrEqual(t, fired, n/2)
			require.LessOrEqual(t, unsorted, 2)
		})
	}
}
