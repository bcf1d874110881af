package circles

import (
	"math"
	"math/bits"

	"github.com/epicycle-go/epicycle/level"
)

// ahead is the other side of circle k-1: what that circle will hold when the hand has
// come to a slot of circle k in which there is a crowd. The crowd is poured there before
// its time. Otherwise its first timers would wait until all have been poured.
type ahead struct {
	level.Level
	slot       int    // of circle k
	swept      uint32 // where in the arena to go on; 0: the slot's list is followed from now on
	start, end int64  // the slot's first and last time
}

// aheads are the other sides of all circles, by the number k of the coarser circle.
type aheads struct {
	// Invariant: bit k is set iff ahead[k] is in use. Those in use begin one after the
	// other, the finest first, and none before the hand.
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

// aheadStart is when the hand comes to the first slot that is being poured ahead, if any
// is.
func (a *aheads) aheadStart() (start int64, ok bool) {
	if a.active == 0 {
		return 0, false
	}
	return a.ahead[bits.TrailingZeros32(a.active)].start, true
}

// linkAhead puts node i where it will belong when the hand has come to the slot of its
// deadline, if that slot is being poured ahead. It is seldom called, and kept out of link
// and Add, which are hot.
//
//go:noinline
func (c *Circles) linkAhead(i uint32, n *level.Node) (linked bool) {
	c.eachAhead(func(k int, a *ahead) bool {
		if linked = a.start <= n.Key && n.Key <= a.end; linked {
			n.Place(k-1, c.layout.slotFor(k-1, n.Key), 1-c.side(k-1))
			a.Push(&c.arena, i, n)
		}
		return linked
	})
	return linked
}

// swapInAhead moves the hand to what was poured ahead, if its time has come and nothing
// is left that is due before. If that turns out to be empty, the next may have its turn.
func (c *Circles) swapInAhead(now int64) {
	for c.active != 0 {
		k := bits.TrailingZeros32(c.active)
		a := c.ahead[k]
		if now < a.start {
			return
		}
		if c.occupied != 0 {
			if _, _, start := c.first(); start < a.start {
				return
			}
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
// with the time at which to come back, or AskAgain if there is more to do now.
func (c *Circles) pourCrowds(now int64, v Verdict, budget int) (Verdict, int) {
	if c.inOrder {
		return v, budget // nobody waits while a mock stands still
	}
	k, begin, found := c.nextCrowd()
	if found && begin <= now { // before the others are done, as a finer one is nearer
		c.beginAhead(k)
		return Verdict{State: AskAgain}, budget
	}
	c.eachAhead(func(k int, a *ahead) bool {
		budget = c.pourAhead(k, a, budget)
		return budget == 0
	})
	if budget == 0 {
		return Verdict{State: AskAgain}, 0
	}
	if found {
		v.At = min(v.At, begin)
	}
	if start, ok := c.aheadStart(); ok {
		v.At = min(v.At, start)
	}
	return v, budget
}

// nextCrowd is the circle whose first slot holds the next crowd to be poured ahead, and
// when to begin; found is false if there is none.
func (c *Circles) nextCrowd() (k int, begin int64, found bool) {
	for left := c.occupied &^ c.active &^ 1; left != 0; left &= left - 1 {
		j := bits.TrailingZeros32(left)
		l := &c.circle[j]
		s := l.First()
		if n := l.Len(s); n >= c.tuning.PourAheadFrom && !l.Sorted(s) && !c.isOpen(j, s) {
			t := c.layout.slotStart(j, s, c.hand) - int64(n)*c.tuning.PourTime
			if !found || t < begin {
				k, begin, found = j, t, true
			}
		}
	}
	return k, begin, found
}

// NextCrowd is when Next must be called to begin with pouring a crowd ahead, if there is
// one. A sleeping wheel asks now and then as crowds grow: nothing else wakes it before the
// first of them is due.
func (c *Circles) NextCrowd(now int64) (begin int64, found bool) {
	if c.inOrder {
		return 0, false
	}
	_, begin, found = c.nextCrowd()
	return max(begin, now), found
}

// beginAhead makes ready to pour the first slot of circle k ahead.
func (c *Circles) beginAhead(k int) {
	a := c.ahead[k]
	if a == nil {
		a = new(ahead)
		c.ahead[k] = a
	}
	a.slot = c.circle[k].First()
	a.start = c.layout.slotStart(k, a.slot, c.hand)
	a.end = c.layout.slotEnd(k, a.start)
	a.swept = 1
	c.active |= 1 << uint(k)
}

// pourAhead goes on with a slot of circle k and returns what is left of the budget.
func (c *Circles) pourAhead(k int, a *ahead, budget int) (left int) {
	return c.pourSlot(k, a.slot, c.sweepAhead(k, a, budget))
}

// sweepAhead does the same in the order of memory, as long as the slot is crowded.
func (c *Circles) sweepAhead(k int, a *ahead, budget int) (left int) {
	if c.circle[k].Len(a.slot)*c.tuning.SweepRatio < c.arena.Entries()-int(a.swept) {
		a.swept = 0
	}
	for a.swept != 0 && c.circle[k].Len(a.slot) > 0 && budget > 0 {
		i, next, looked := c.arena.Seek(a.swept, k, a.slot, c.side(k), budget*sweptPerPoured)
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
