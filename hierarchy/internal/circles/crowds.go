package circles

import (
	"math"
	"math/bits"

	"github.com/epicycle-go/epicycle/level"
)

// pourCrowds pours crowds ahead, while nothing is due before the time in v. It answers
// with the time at which to come back, or AskAgain if there is more to do now. Where order
// is kept it pours nothing: PourAhead is called instead, or nobody minds waiting.
func (c *Circles) pourCrowds(now int64, v Verdict, budget int) (Verdict, int) {
	if !c.inOrder {
		if c.next != nil {
			c.goOnGathering(budget)
			return Verdict{State: AskAgain}, 0
		}
		k, begin, found := c.nextCrowd()
		if found && begin <= now { // before the others are done, as a finer one is nearer
			if !c.gatherSmall(k, &c.circle[k], false) {
				c.beginAhead(k)
			}
			return Verdict{State: AskAgain}, budget
		}
		budget = c.pourAllAhead(budget)
		nested, begun := c.gatherNested(now)
		if budget == 0 || begun || c.beginNested(now) {
			return Verdict{State: AskAgain}, budget
		}
		if v.At = min(v.At, nested); found {
			v.At = min(v.At, begin)
		}
	}
	if start, ok := c.aheadStart(); ok {
		v.At = min(v.At, start)
	}
	return v, budget
}

// PourAhead pours crowds ahead that will soon be due. Where order is kept, Next leaves that
// to its caller. It touches no more than about budget nodes.
func (c *Circles) PourAhead(now int64, budget int) {
	if c.gathers && c.gatherAhead(now, budget) {
		return
	}
	for k, begin, found := c.nextCrowd(); found && begin <= now; k, begin, found = c.nextCrowd() {
		c.beginAhead(k)
	}
	for budget = c.pourAllAhead(budget); budget > 0 && c.beginNested(now); {
		budget = c.pourAllAhead(budget)
	}
}

// pourAllAhead goes on with all slots that are being poured ahead, the first in time first,
// and returns what is left of the budget.
func (c *Circles) pourAllAhead(budget int) (left int) {
	c.eachAhead(func(k int, a *ahead) bool {
		budget = c.pourAhead(k, a, budget)
		return budget == 0
	})
	return budget
}

// nextCrowd is the circle whose first slot holds the next crowd to be poured ahead, and
// when to begin; found is false if there is none.
func (c *Circles) nextCrowd() (k int, begin int64, found bool) {
	if c.anyBehind() {
		return 0, 0, false // that comes first
	}
	for left := c.occupied &^ c.active &^ 1; left != 0; left &= left - 1 {
		j := bits.TrailingZeros32(left)
		l := &c.circle[j]
		if s := l.First(); c.isCrowd(l, s) && !c.isOpen(j, s) {
			t := c.beginFor(j, l, c.hand)
			if !found || t < begin {
				k, begin, found = j, t, true
			}
		}
	}
	return k, begin, found
}

// beginFor is when to begin with pouring the first slot of l, which is circle k at that hand.
func (c *Circles) beginFor(k int, l *level.Level, hand int64) int64 {
	s := l.First()
	start := c.layout.SlotStart(k, s, hand)
	if c.gathers && c.inOrder { // time passes in steps
		return max(start, math.MinInt64+int64(c.layout.Width(k))) - int64(c.layout.Width(k))
	}
	return start - int64(l.Len(s))*c.tuning.PourTime
}

// isCrowd tells whether slot s of l, which is not circle 0, must be poured, and is so large
// that this takes a while.
func (c *Circles) isCrowd(l *level.Level, s int) bool {
	return l.Len(s) >= c.tuning.PourAheadFrom && !l.Sorted(s) && !l.Loose(s)
}

// NextCrowd is when Next must be called to begin with pouring a crowd ahead, if there is
// one. Who sets a timer asks when the arena has grown: nothing else wakes a sleeping wheel
// before the first of the crowd is due.
func (c *Circles) NextCrowd(now int64) (begin int64, found bool) {
	if c.inOrder {
		return 0, false
	}
	_, begin, found = c.nextCrowd()
	return max(begin, now), found
}

// beginAhead makes ready to pour the first slot of circle k ahead.
func (c *Circles) beginAhead(k int) { c.begin(k, &c.circle[k], c.hand, false) }

// beginNested makes ready to pour a slot of what has been poured ahead, if its first one is
// a crowd, and it is time. The level for that is free when the hand is in the last slot of
// a turn. It tells whether there is one.
func (c *Circles) beginNested(now int64) (begun bool) {
	c.eachAhead(func(k int, a *ahead) bool {
		free := k > 1 && (c.active|c.occupied)>>uint(k-1)&1 == 0
		if free && !a.Empty() && c.source(k, a).Len(a.slot) == 0 && c.isCrowd(&a.Level, a.First()) &&
			c.beginFor(k-1, &a.Level, a.start) <= now {
			c.begin(k-1, &a.Level, a.start, true)
			begun = true
		}
		return begun
	})
	return begun
}

// begin makes ready to pour the first slot of l ahead, which is circle k at that hand.
func (c *Circles) begin(k int, l *level.Level, hand int64, nested bool) {
	a := c.ahead[k]
	if a == nil {
		a = new(ahead)
		c.ahead[k] = a
	}
	a.slot, a.nested = l.First(), nested
	a.start = c.layout.SlotStart(k, a.slot, hand)
	a.end = c.layout.SlotEnd(k, a.start)
	a.swept = 1
	if c.inOrder && !c.gathers {
		a.swept = 0
	}
	c.active |= 1 << uint(k)
	if a.swept != 0 && !nested && c.sweeps(l.Len(a.slot), 0) {
		l.Loosen(a.slot)
	}
}

// sweeps tells whether to go through the arena for the n nodes of a slot, of which a part was
// gone through already.
func (c *Circles) sweeps(n int, swept uint32) bool {
	return n*c.tuning.SweepRatio >= c.arena.Entries()-int(swept)
}

// pourAhead goes on with a slot of circle k and returns what is left of the budget.
func (c *Circles) pourAhead(k int, a *ahead, budget int) (left int) {
	return c.pourSlot(c.source(k, a), a.slot, c.sweepAhead(k, a, budget))
}

// sweepAhead does the same in the order of memory, as long as the slot is crowded.
func (c *Circles) sweepAhead(k int, a *ahead, budget int) (left int) {
	l, side := c.source(k, a), c.side(k)
	if a.nested {
		side = 1 - side
	}
	if !l.Loose(a.slot) && !c.sweeps(l.Len(a.slot), a.swept) {
		a.swept = 0
	}
	return c.sweep(l, k, a.slot, side, &a.swept, budget)
}

// sweep goes through the arena from at on, pours what belongs in slot s of l, and returns what is
// left of the budget.
func (c *Circles) sweep(l *level.Level, k, s, side int, at *uint32, budget int) (left int) {
	for *at != 0 && l.Len(s) > 0 && budget > 0 {
		most := min(budget, math.MaxInt/sweptPerPoured) * sweptPerPoured
		i, next, looked := c.arena.Seek(*at, k, s, side, most)
		if *at = next; next == 0 && l.Loose(s) {
			*at = 1 // what was set meanwhile may be in memory that it has passed
		}
		cost := looked / sweptPerPoured
		if i != 0 {
			c.relink(i, c.arena.At(i))
			c.cascaded++
			cost++
		}
		c.visited += cost
		budget = max(0, budget-cost)
	}
	return budget
}
