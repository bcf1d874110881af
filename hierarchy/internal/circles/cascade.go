package circles

import "math/bits"

// openSlot moves the hand to the first slot, of circle k, and opens it: it will be poured
// over the finer circles, which are empty. Until that is done, new timers of its range,
// and those poured before, overtake what is left in it.
func (c *Circles) openSlot(k int, start int64) {
	c.hand = max(c.hand, start)
	c.open |= 1 << uint(k)
}

// openIfAny opens the slot of circle k under the hand if it holds a node.
func (c *Circles) openIfAny(k int) {
	if k > 0 && c.circle[k].Len(c.layout.slotFor(k, c.hand)) > 0 {
		c.open |= 1 << uint(k)
	}
}

// isOpen tells whether slot s of circle k is being poured out.
func (c *Circles) isOpen(k, s int) bool {
	return c.open>>uint(k)&1 != 0 && s == c.layout.slotFor(k, c.hand)
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
// the slot was opened is among the last.
func (c *Circles) pour(budget int) (left int) {
	for c.open != 0 && budget > 0 {
		k := bits.TrailingZeros32(c.open)
		budget = c.pourSlot(k, c.layout.slotFor(k, c.hand), budget)
		if c.circle[k].Len(c.layout.slotFor(k, c.hand)) == 0 {
			c.open &^= 1 << uint(k)
		}
	}
	return budget
}

// pourSlot pours slot s of circle k from both ends, and returns what is left of the
// budget. There are two lists to go along, so one need not wait for the other's memory.
func (c *Circles) pourSlot(k, s, budget int) (left int) {
	for l := &c.circle[k]; l.Len(s) > 0 && budget > 0; budget-- {
		i := l.Head(s)
		if budget%2 == 0 && !c.inOrder {
			i = l.Tail(s)
		}
		c.relink(i, c.arena.At(i))
		c.cascaded++
	}
	return budget
}
