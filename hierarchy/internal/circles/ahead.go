package circles

import (
	"math"
	"math/bits"

	"github.com/epicycle-go/epicycle/level"
)

// ahead is a second copy of circle k-1. A crowded slot of circle k is poured into it before
// its time, and it takes the place of circle k-1 when the hand comes to that slot.
// Otherwise the first timers of the crowd would wait until all have been poured.
type ahead struct {
	level.Level
	slot       int    // of circle k
	nested     bool   // the slot is on the ahead of circle k+1 instead, and will be of circle k with that
	swept      uint32 // where in the arena to go on; 0: the slot's list is followed from now on
	start, end int64  // the slot's first and last time
}

// aheads are the other sides of all circles, by the number k of the coarser circle.
type aheads struct {
	// Invariant: bit k is set iff ahead[k] is in use. Those in use begin one after the
	// other, the finest first, and none before the hand. But a nested one begins in the
	// slot of the next coarser one, which is in use.
	active uint32
	// sides has the side of the nodes on circle k itself in bit k. A node with the other
	// side is on ahead[k+1].
	sides uint32
	ahead [maxCircles]*ahead // made when first needed
}

// side is the side of the nodes on circle k itself.
func (a *aheads) side(k int) int { return int(a.sides >> uint(k) & 1) }

// onAhead tells whether n, which is in a slot, was poured ahead.
func (a *aheads) onAhead(n *level.Node) bool {
	return a.active != 0 && n.Side() != a.side(n.Circle())
}

// aheadLevel is the level that n is on, which was poured ahead.
func (a *aheads) aheadLevel(n *level.Node) *level.Level { return &a.ahead[n.Circle()+1].Level }

// eachAhead calls f for all that are in use, finest first, until f says that it is done.
func (a *aheads) eachAhead(f func(k int, a *ahead) (done bool)) {
	for left := a.active; left != 0; left &= left - 1 {
		if k := bits.TrailingZeros32(left); f(k, a.ahead[k]) {
			return
		}
	}
}

// aheadEmpty tells whether no node has been poured ahead.
func (a *aheads) aheadEmpty() bool {
	empty := true
	a.eachAhead(func(_ int, a *ahead) bool {
		empty = a.Empty()
		return !empty
	})
	return empty
}

// nestedIn tells whether ahead[k-1] is in use and nested in ahead[k].
func (a *aheads) nestedIn(k int) bool { return a.active>>uint(k-1)&1 != 0 && a.ahead[k-1].nested }

// nextAhead is the circle of the first slot in time that is being poured ahead. One must be.
func (a *aheads) nextAhead() (k int) {
	for k = bits.TrailingZeros32(a.active); a.ahead[k].nested; {
		k++
	}
	return k
}

// aheadStart is when the hand comes to the first slot that is being poured ahead, if any
// is.
func (a *aheads) aheadStart() (start int64, ok bool) {
	if a.active == 0 {
		return 0, false
	}
	return a.ahead[a.nextAhead()].start, true
}

// pouredAhead is the number of nodes that were poured onto ahead[k] and what is nested there.
func (a *aheads) pouredAhead(k int) (n int) {
	for s := range level.Slots {
		n += a.ahead[k].Len(s)
	}
	if a.nestedIn(k) {
		n += a.pouredAhead(k - 1)
	}
	return n
}

// source is the level from which a is poured, whose slots are slots of circle k.
func (c *Circles) source(k int, a *ahead) *level.Level {
	if a.nested {
		return &c.ahead[k+1].Level
	}
	return &c.circle[k]
}

// linkAhead puts node i where it will belong when the hand has come to the slot of its
// deadline, if that slot is being poured ahead. Where order is kept, a timer that was set
// just now queues behind those of the slot that are not poured yet.
//
// It is seldom called, and kept out of link and Add, which are hot.
//
//go:noinline
func (c *Circles) linkAhead(i uint32, n *level.Node, set bool) (linked bool) {
	c.eachAhead(func(k int, a *ahead) bool {
		queues := set && c.inOrder && c.source(k, a).Len(a.slot) > 0
		if linked = a.start <= n.Key && n.Key <= a.end && !queues; linked {
			n.Place(k-1, c.layout.slotFor(k-1, n.Key), 1-c.side(k-1))
			a.Push(&c.arena, i, n)
		}
		return linked
	})
	return linked
}

// aheadIsFirst tells whether a slot that is being poured ahead is the first one in time.
func (c *Circles) aheadIsFirst() bool {
	aheadStart, any := c.aheadStart()
	if !any || c.occupied == 0 {
		return any
	}
	_, _, start := c.first()
	return aheadStart <= start
}

// swapInAhead moves the hand to what was poured ahead, if its time has come and nothing
// is left that is due before. If that turns out to be empty, the next may have its turn.
func (c *Circles) swapInAhead(now int64) {
	for c.active != 0 {
		k := c.nextAhead()
		a := c.ahead[k]
		if now < a.start {
			return
		}
		if !c.aheadIsFirst() {
			return
		}
		c.swapIn(k, a)
	}
}

// swapIn moves the hand to the slot of circle k that a was poured from, and makes a the
// next finer circle, which is empty now. What could not be poured in time is open from
// now on.
func (c *Circles) swapIn(k int, a *ahead) {
	c.active &^= 1 << uint(k)
	c.hand = a.start
	if c.nestedIn(k) {
		c.ahead[k-1].nested = false
	}
	c.openIfAny(k)
	if !a.Empty() {
		c.circle[k-1] = a.Level
		a.Level = level.Level{}
		c.sides ^= 1 << uint(k-1)
		c.occupied |= 1 << uint(k-1)
		c.openIfAny(k - 1)
	}
	if c.inOrder { // it was drained, and the slot was not poured to the end
		c.pour(math.MaxInt)
	}
}

// pourCrowds pours crowds ahead, while nothing is due before the time in v. It answers
// with the time at which to come back, or AskAgain if there is more to do now. Where order
// is kept it pours nothing: PourAhead is called instead, or nobody minds waiting.
func (c *Circles) pourCrowds(now int64, v Verdict, budget int) (Verdict, int) {
	if !c.inOrder {
		k, begin, found := c.nextCrowd()
		if found && begin <= now { // before the others are done, as a finer one is nearer
			c.beginAhead(k)
			return Verdict{State: AskAgain}, budget
		}
		if budget = c.pourAllAhead(budget); budget == 0 || c.beginNested(now) {
			return Verdict{State: AskAgain}, budget
		}
		if found {
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
	return c.layout.slotStart(k, s, hand) - int64(l.Len(s))*c.tuning.PourTime
}

// isCrowd tells whether slot s of l, which is not circle 0, must be poured, and is so large
// that this takes a while.
func (c *Circles) isCrowd(l *level.Level, s int) bool {
	return l.Len(s) >= c.tuning.PourAheadFrom && !l.Sorted(s)
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
	a.start = c.layout.slotStart(k, a.slot, hand)
	a.end = c.layout.slotEnd(k, a.start)
	a.swept = 1
	if c.inOrder {
		a.swept = 0
	}
	c.active |= 1 << uint(k)
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
	if l.Len(a.slot)*c.tuning.SweepRatio < c.arena.Entries()-int(a.swept) {
		a.swept = 0
	}
	for a.swept != 0 && l.Len(a.slot) > 0 && budget > 0 {
		i, next, looked := c.arena.Seek(a.swept, k, a.slot, side, budget*sweptPerPoured)
		a.swept = next
		cost := looked / sweptPerPoured
		if i != 0 {
			c.relink(i, c.arena.At(i))
			c.cascaded++
			cost++
		}
		budget = max(0, budget-cost)
	}
	return budget
}
