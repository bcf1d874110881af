package circles

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// gathers makes circles as a Driven has them.
func gathers() *Circles {
	tuning := DefaultTuning()
	tuning.PourAheadFrom = 512
	c := new(Circles)
	c.Init(NewLayout(time.Second).Signed(), tuning, 0)
	c.KeepOrder()
	c.GatherCrowds(func(uint32) {})
	return c
}

// Orders may be so far apart that their low bits do not tell which is first. Timers may be
// removed, and their memory released, between the portions in which they are gathered.
func TestOrdersFarApartWhileTimersAreRemoved(t *testing.T) {
	const n, stay, due = 20_000, 10, int64(200 * time.Second)
	c := gathers()
	var timers []uint32
	seq := uint64(0)
	for k := range int64(n) {
		if seq++; k == stay/2 {
			seq += math.MaxUint32
		}
		timers = append(timers, c.Add(0, due+k%2, seq, 0))
	}
	c.PourAhead(due-c.layout.SlotEnd(6, 0), n-1)
	require.True(t, c.next != nil && c.next.taking)
	for _, i := range timers[stay:] {
		c.Remove(i, c.arena.At(i))
	}
	for _, k := range []int{0, 2, 4, 6, 8, 1, 3, 5, 7, 9} {
		v := c.NextInOrder(due + 1)
		require.Equal(t, Verdict{Due, timers[k], due + int64(k%2)}, v)
		c.Remove(v.Node, c.arena.At(v.Node))
	}
}

// Earliest pours a crowd ahead, down to the finest circle if need be, which takes no memory.
func TestEarliestGathersNoCrowdThatCanBePoured(t *testing.T) {
	const n = 50_000
	for _, span := range []time.Duration{time.Microsecond, time.Millisecond, time.Second, time.Hour} {
		c := gathers()
		for i := range uint64(n) {
			c.Add(0, int64(100*time.Hour)+int64(i*7919)%int64(span), i+1, 0)
		}
		require.NotZero(t, c.Earliest())
		require.Empty(t, c.queues, span)
	}
}
