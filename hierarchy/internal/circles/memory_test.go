package circles

import (
	"math/bits"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/level/arena"
)

// A slot takes memory only as long as it holds something, and few slots' worth is kept for others.
func TestEmptySlotsTakeNoMemory(t *testing.T) {
	const width = int64(time.Second)
	c := newCircles(time.Second)
	now := int64(0)
	for range 3 {
		for slot := range int64(10_000) { // slots of three circles
			c.Add(now, now+slot*width, uint64(slot)+1, 0)
		}
		require.Greater(t, slotsInUse(c), spareSlots)
		now += 10_000 * width
		require.Len(t, fire(t, c, now), 10_000)
		require.NoError(t, c.Check())
		require.Zero(t, slotsInUse(c))
		require.LessOrEqual(t, len(c.store.slots), spareSlots)
	}
}

func slotsInUse(c *Circles) (n int) {
	for _, circle := range c.all {
		n += bits.OnesCount64(circle.Occupied)
	}
	return n
}

// A wheel that has run out of timers gives back what only large crowds need, and keeps what small ones need: they
// allocate nothing each time.
func TestMemoryAfterCrowds(t *testing.T) {
	c := newCircles(time.Second)
	now := int64(0)
	crowd := func(n int) {
		for i := range uint64(n) {
			c.Add(now, now+int64(time.Minute), i+1, 0)
		}
		now += int64(time.Minute)
		for v := c.Next(now, Unlimited); v.State != Empty; v = c.Next(now, Unlimited) {
			if v.State == Due {
				c.Remove(v.Node, c.arena.At(v.Node))
			}
		}
	}
	crowd(100_000)
	require.LessOrEqual(t, len(c.store.runs), 4)
	for _, r := range c.store.runs {
		require.LessOrEqual(t, cap(r.Items), 4*c.tuning.SortUpTo)
	}
	crowd(arena.BlockLen)
	require.Zero(t, testing.AllocsPerRun(10, func() { crowd(arena.BlockLen) }))
}

// A slot that is sorted again and again, as timers come and go in it, takes no more memory for that.
func TestSlotThatIsSortedAgainKeepsItsSize(t *testing.T) {
	c := newCircles(time.Second)
	const at = int64(1) << 50
	c.Add(0, at+1<<30, 1, 0)
	for order := uint64(2); order < 100_000; order++ {
		i := c.Add(0, at, order, 0)
		require.Equal(t, i, c.Next(0, Unlimited).Node)
		c.Remove(i, c.arena.At(i))
	}
	c.Next(0, Unlimited)
	for _, circle := range c.all {
		for _, slot := range circle.Slots {
			if slot != nil && slot.Run != nil {
				require.LessOrEqual(t, cap(slot.Run.Items), 4*c.tuning.SortUpTo)
			}
		}
	}
}
