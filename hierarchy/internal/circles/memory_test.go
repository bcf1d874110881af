package circles

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
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
		require.Greater(t, bagsInUse(c), spareBags)
		now += 10_000 * width
		require.Len(t, fire(t, c, now), 10_000)
		require.NoError(t, c.Check())
		require.Zero(t, bagsInUse(c))
		require.LessOrEqual(t, spareBagsOf(c), spareBags)
	}
}

func bagsInUse(c *Circles) (n int) {
	for _, r := range c.rings {
		for _, b := range r.Slots {
			if b != nil {
				n++
			}
		}
	}
	return n
}

func spareBagsOf(c *Circles) (n int) {
	for b := c.store.bags; b != nil; b = b.next {
		n++
	}
	return n
}
