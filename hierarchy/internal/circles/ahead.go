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
	openSwept  uint32 // the same for the open slot of circle k, if that is loose
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
			n.Place(k-1, c.layout.SlotFor(k-1, n.Key), 1-c.side(k-1))
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
	a.openSwept = max(1, a.swept)
	if c.nestedIn(k) {
		c.ahead[k-1].nested = false
	}
	c.openIfAny(k)
	if !a.Empty() {
		c.circle[k-1] = a.Level
		a.Level = level.Level{}
		if c.next != nil && c.next.circle == k-1 {
			c.next.ahead = false
		}
		c.sides ^= 1 << uint(k-1)
		c.occupied |= 1 << uint(k-1)
		c.openIfAny(k - 1)
	}
	if c.inOrder { // it was drained, and the slot was not poured to the end
		c.pour(math.MaxInt)
	}
}
