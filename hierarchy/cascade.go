package hierarchy

import "math/bits"

// next finds the earliest timer: its index if it is due, else 0 and a time,
// later than now, before which no timer is due. It touches no more than about
// one budget of nodes; when there is more to do before it can say, it returns
// 0 and 0: then ask again. Everything is in order after each call, so the lock
// may be released in between.
//
// While slots are open, the earliest timer is that of those poured so far, unless
// all must come in order.
func (c *circles) next(now int64, budget int) (i uint32, at int64) {
	c.pour(c.share(budget))
	for c.pending() && budget > 0 {
		for c.active != 0 && c.arrive(now) {
			if c.ordered { // it is drained, and was not poured out to the end
				c.pour(budget)
			}
		}
		i, at, budget = c.look(now, budget)
		switch {
		case i != 0:
			return i, at
		case at == 0:
		case c.open != 0: // it may hold something earlier
			budget = c.pour(budget)
		default:
			if at, budget = c.foresee(now, at, budget); at != 0 {
				return 0, at
			}
		}
	}
	if c.pending() {
		return 0, 0
	}
	c.active, c.open, c.hand = 0, 0, max(c.hand, now)
	return 0, never
}

// look looks at the first slot. It returns the earliest timer if that is due, or a
// time before which nothing outside the open slots is due, or, if there was
// something else to do first, neither. left is what is left of the budget.
func (c *circles) look(now int64, budget int) (i uint32, at int64, left int) {
	if c.occupied == 0 {
		if at = c.aheads.next(); at <= now { // one has arrived and was empty
			at = 0
		}
		return 0, at, budget
	}
	k, s, start := c.first()
	if c.isOpen(k, s) {
		return 0, 0, c.pour(budget)
	}
	l := &c.circle[k]
	if !l.Sorted(s) {
		n := l.Len(s)
		if n > c.crowd && k > 0 {
			if start > now {
				return 0, start, budget
			}
			c.cascade(k, start)
			return 0, 0, budget
		}
		if n <= c.crowd || c.ordered {
			l.Sort(&c.arena, s)
			budget -= n
		} // else all in it are due at one instant, and in no order
	}
	i = l.Head(s)
	n := c.arena.At(i)
	switch {
	case n.Key > c.slotEnd(k, start):
		c.relink(i, n)
		return 0, 0, budget - 1
	case n.Key > now:
		return 0, n.Key, budget
	}
	return i, n.Key, budget
}

// cascade moves the hand to the first slot, of circle k, and opens it: it will be
// poured out over the finer circles, which are empty. Until it has run dry, new
// timers of its range, and those poured before, overtake what is left in it.
func (c *circles) cascade(k int, start int64) {
	c.hand = max(c.hand, start)
	c.open |= 1 << uint(k)
}

// isOpen tells whether slot s of circle k is being poured out.
func (c *circles) isOpen(k, s int) bool {
	return c.open>>uint(k)&1 != 0 && s == c.slotFor(k, c.hand)
}

// share is how many nodes are poured before each timer that fires. Those that are
// due don't wait for a crowd to be poured, nor it for all of them.
func (c *circles) share(budget int) int {
	if c.ordered {
		return budget
	}
	return min(budget, 2)
}

// pour goes on with the open slots, finest first, and returns what is left of
// the budget.
//
// Of a slot it takes the first and the last in turn, as those two may be due
// soonest: crowds are often set in order of deadline, and a short timer set just
// before the slot was opened is among the last.
func (c *circles) pour(budget int) int {
	for c.open != 0 && budget > 0 {
		k := bits.TrailingZeros32(c.open)
		l := &c.circle[k]
		s := c.slotFor(k, c.hand)
		for ; l.Len(s) > 0 && budget > 0; budget-- {
			i := l.Head(s)
			if budget%2 == 0 && !c.ordered {
				i = l.Tail(s)
			}
			c.relink(i, c.arena.At(i))
			c.cascaded++
		}
		if l.Len(s) == 0 {
			c.open &^= 1 << uint(k)
		}
	}
	return budget
}
