package circles

import (
	"math"
	"math/bits"

	"github.com/epicycle-go/epicycle/level"
)

// GatherDue takes the timers of all slots that end at now or before out of them and sorts
// them, if they are so many that looking at every node pays. It may take long, so callers do it
// once after a crowd may have been set.
func (c *Circles) GatherDue(now int64) {
	rows, n := c.dueSlots(now)
	if n < c.tuning.PourAheadFrom || n*c.tuning.SweepRatio < c.arena.Entries() {
		return
	}
	g := c.newGathering(n)
	c.takeSlots(g, rows)
	c.endTaking(g)
	c.gather(g, math.MaxInt)
	c.enqueue(g)
}

// slotSet is slots of one circle: a bit for each.
type slotSet uint64

// dueSlots is the slots of each circle that are not sorted and end at now or before, and how
// many nodes they hold.
func (c *Circles) dueSlots(now int64) (rows [maxCircles]slotSet, n int) {
	for k := range c.layout.count {
		l := &c.circle[k]
		for s := range level.Slots {
			if l.Len(s) > 0 && !l.Sorted(s) && c.layout.SlotEnd(k, c.layout.SlotStart(k, s, c.hand)) <= now {
				rows[k] |= 1 << uint(s)
				n += l.Len(s)
			}
		}
	}
	return rows, n
}

// takeSlots takes all nodes out of the slots in rows, in the order of memory.
func (c *Circles) takeSlots(g *gathering, rows [maxCircles]slotSet) {
	c.visited += c.arena.Len()
	c.arena.Each(func(i uint32, n *level.Node) {
		k := n.Circle()
		if k < level.Gathered && rows[k]>>uint(n.Slot())&1 != 0 && !c.onAhead(n) {
			g.head = append(g.head, c.note(g, i, n))
			n.Gather()
		}
	})
	for k, row := range rows {
		for ; row != 0; row &= row - 1 {
			c.circle[k].Clear(bits.TrailingZeros64(uint64(row)))
		}
		if c.circle[k].Empty() {
			c.occupied &^= 1 << uint(k)
		}
	}
}
