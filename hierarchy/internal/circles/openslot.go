package circles

import (
	"math"
	"math/bits"

	"github.com/epicycle-go/epicycle/level"
)

// openSlot moves the hand to slot s of circle k, the first one, and opens it: it will be
// poured over the finer circles, which are empty. Until that is done, new timers of its
// range, and those poured before, overtake what is left in it.
func (c *Circles) openSlot(k, s int, start, now int64) {
	if c.inOrder && c.bunched(k, s) {
		lo, hi := c.span(k, s)
		start = max(start, min(c.layout.commonStart(lo, hi), c.layout.SlotEnd(k, start), now))
	}
	c.hand = max(c.hand, start)
	c.open |= 1 << uint(k)
	if l := &c.circle[k]; !c.inOrder && c.isCrowd(l, s) {
		c.gatherSmall(k, l, false)
	}
}

// sweepOpen pours slot s of circle k to the end, in the order of memory, and not of setting.
func (c *Circles) sweepOpen(k, s int) {
	for i, next := uint32(0), uint32(1); next != 0; {
		if i, next, _ = c.arena.Seek(next, k, s, c.side(k), math.MaxInt); i != 0 {
			c.relink(i, c.arena.At(i))
			c.cascaded++
			c.visited++
		}
	}
}

// bunched tells whether the first few timers of slot s of circle k all belong in one slot
// of the next finer circle. Then the others may do so, too, and pouring them there alone
// would bring little: a wheel that was at rest for long has all its timers in one slot.
func (c *Circles) bunched(k, s int) bool {
	const few = 8
	l := &c.circle[k]
	i := l.Head(s)
	first := c.arena.At(i)
	for range few {
		n := c.arena.At(i)
		if c.layout.SlotFor(k-1, n.Key) != c.layout.SlotFor(k-1, first.Key) {
			return false
		}
		if i = n.Next(); i == 0 {
			break
		}
	}
	return true
}

// span is the earliest and the latest deadline in slot s of circle k.
func (c *Circles) span(k, s int) (lo, hi int64) {
	lo, hi = math.MaxInt64, math.MinInt64
	c.visited += c.circle[k].Len(s)
	c.circle[k].Each(&c.arena, s, func(_ uint32, n *level.Node) {
		lo, hi = min(lo, n.Key), max(hi, n.Key)
	})
	return lo, hi
}

// openIfAny opens the slot of circle k under the hand if it holds a node.
func (c *Circles) openIfAny(k int) {
	if k > 0 && c.circle[k].Len(c.layout.SlotFor(k, c.hand)) > 0 {
		c.open |= 1 << uint(k)
	}
}

// isOpen tells whether slot s of circle k is being poured out.
func (c *Circles) isOpen(k, s int) bool {
	return c.open>>uint(k)&1 != 0 && s == c.layout.SlotFor(k, c.hand)
}

// pourBeforeTimer pours what must be poured before the next timer fires: a few nodes, or,
// where order is kept, all.
func (c *Circles) pourBeforeTimer(budget int) {
	if !c.inOrder {
		budget = min(budget, pourPerTimer)
	}
	c.pour(budget)
}

// pour goes on with the open slots, finest first, and returns what is left of the budget.
//
// Of a slot it takes the first and the last in turn, as those two may be due soonest:
// crowds are often set in order of deadline, and a short timer that was set just before
// the slot was opened is among the last. Where order is kept, it takes the first, so that
// timers of one deadline stay in order.
func (c *Circles) pour(budget int) (left int) {
	for c.open != 0 && budget > 0 {
		k := bits.TrailingZeros32(c.open)
		s := c.layout.SlotFor(k, c.hand)
		if budget == math.MaxInt && c.gathers && c.circle[k].Len(s)*c.tuning.SweepRatio >= c.arena.Entries() {
			c.sweepOpen(k, s)
		}
		if l := &c.circle[k]; l.Loose(s) {
			budget = c.sweep(l, k, s, c.side(k), &c.ahead[k].openSwept, budget)
		} else if g := c.next; g.takesFrom(k, s) {
			budget = c.takeSome(g, budget)
		} else {
			budget = c.pourSlot(&c.circle[k], s, budget)
		}
		if c.circle[k].Len(c.layout.SlotFor(k, c.hand)) == 0 {
			c.open &^= 1 << uint(k)
		}
	}
	return budget
}

// pourSlot pours slot s of l and returns what is left of the budget. Going along
// the list from both ends, the processor need not wait for the memory of one end alone.
func (c *Circles) pourSlot(l *level.Level, s, budget int) (left int) {
	for ; l.Len(s) > 0 && budget > 0; budget-- {
		i := l.Head(s)
		if budget%2 == 0 && !c.inOrder {
			i = l.Tail(s)
		}
		c.relink(i, c.arena.At(i))
		c.cascaded++
		c.visited++
	}
	return budget
}
