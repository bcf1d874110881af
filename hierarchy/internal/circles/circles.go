package circles

import (
	"math/bits"

	"github.com/epicycle-go/epicycle/level"
)

// Circles is a set of circles, and the arena that its nodes live in. Init must be called
// before anything else.
//
// Times are nanoseconds, 0 or more unless the layout is Signed. The time of a call may be
// earlier than that of the call before, as callers read their clocks before they take
// their locks.
//
// The order of a node is the sequence number that it was last set with. It decides
// between timers of one deadline.
type Circles struct {
	// Invariant: bit k is set iff circle k holds a node.
	occupied uint32
	// Bit k is set while the slot of circle k under the hand is being poured out.
	// Invariant: that slot holds a node, or is found to be empty by the next pour.
	open uint32
	// Bit k is set if circle k may hold a node in a slot before the hand's. Deadlines that
	// have passed go there.
	// Invariant: for each slot s of circle k that holds a node, s >= digit k of hand if bit
	// k of behind is clear, and s != that digit if k > 0 and bit k of open is clear.
	behind uint32
	// Invariant: it never goes back, and does not move while a node is behind it.
	hand int64

	arena level.Arena
	aheads
	gathered
	layout Layout
	tuning Tuning

	// inOrder is set if timers of one deadline must come in their order, whatever it
	// takes. Otherwise those of a crowd may come in any.
	inOrder  bool
	gathers  bool   // crowds may be taken out of their slots
	cascaded uint64 // nodes that were poured, or taken out of their slots with a crowd
	visited  int    // nodes that calls went through, for tests

	// Invariant: the deadline of a node is not before its slot starts. It may be after the
	// slot's end: one that moves later stays in its slot.
	circle [maxCircles]level.Level
}

// Init makes c ready, with the hand at that time.
func (c *Circles) Init(layout Layout, tuning Tuning, hand int64) {
	c.layout, c.tuning, c.hand = layout, tuning, hand
}

// KeepOrder has timers of one deadline come in their order from now on, whatever that
// takes: Next pours and sorts whole slots, and pours nothing more ahead by itself.
func (c *Circles) KeepOrder() { c.inOrder = true }

// GatherCrowds has crowds taken out of their slots, to be sorted in arrays. Where order is kept,
// NextInOrder must be called, not Next. touch is called for nodes that will soon be due, a few at
// once, so that it can fetch from memory what goes with them.
func (c *Circles) GatherCrowds(touch func(i uint32)) { c.gathers, c.touch = true, touch }

// Arena is where the nodes live. Callers read it, and leave changes to c.
func (c *Circles) Arena() *level.Arena { return &c.arena }

// Cascaded is how many nodes were carried from a circle to a finer one.
func (c *Circles) Cascaded() uint64 { return c.cascaded }

// Visited is how many nodes calls went through, one by one, for tests.
func (c *Circles) Visited() int { return c.visited }

// Linked tells whether any node is in a slot.
func (c *Circles) Linked() bool { return c.occupied != 0 || c.active != 0 && !c.aheadEmpty() }

// InSlot is the number of nodes in slot s of circle k, those poured ahead included. All that
// have been gathered count in the slot that was gathered last.
func (c *Circles) InSlot(k, s int) int {
	n := c.circle[k].Len(s)
	if a := c.ahead[k]; c.active>>uint(k)&1 != 0 && a.slot == s && !a.nested {
		n += c.pouredAhead(k)
	}
	if k == c.from.circle && s == c.from.slot {
		n += c.inQueues
	}
	return n
}

// Add makes a new node and puts it into the slot of its deadline.
func (c *Circles) Add(now, deadline int64, sequence uint64, f level.Flags) uint32 {
	if now-c.hand > lag {
		c.advance(now)
	}
	i := c.arena.Alloc()
	n := c.arena.At(i)
	k := c.layout.CircleFor(deadline, c.hand)
	n.Init(deadline, sequence, f, k, c.layout.SlotFor(k, deadline), c.side(k))
	if deadline < c.hand {
		c.behind |= 1 << uint(k)
	}
	if c.active == 0 || !c.linkAhead(i, n, true) {
		c.push(k, i, n)
	}
	return i
}

// link puts node i into the slot of its deadline. Add does the same with a node that is
// not made yet. set tells that the timer was set just now.
func (c *Circles) link(i uint32, n *level.Node, set bool) {
	if c.active != 0 && c.linkAhead(i, n, set) {
		return
	}
	k := c.layout.CircleFor(n.Key, c.hand)
	if n.Key < c.hand {
		c.behind |= 1 << uint(k)
	}
	n.Place(k, c.layout.SlotFor(k, n.Key), c.side(k))
	c.push(k, i, n)
}

// push puts node i into its slot of circle k.
func (c *Circles) push(k int, i uint32, n *level.Node) {
	c.circle[k].Push(&c.arena, i, n)
	c.occupied |= 1 << uint(k)
}

// Unlink takes n out of its slot, or of its queue. It stays alive.
func (c *Circles) Unlink(n *level.Node) {
	c.takeOut(n)
	n.Unlink()
}

// takeOut is Unlink, but for n itself. n must not be Unlinked.
func (c *Circles) takeOut(n *level.Node) {
	switch k := n.Circle(); {
	case k == level.Gathered:
		c.leaveQueue()
	case c.onAhead(n):
		c.aheadLevel(n).Remove(&c.arena, n)
	case c.circle[k].Remove(&c.arena, n):
		c.occupied &^= 1 << uint(k)
	}
}

// relink moves node i to where its deadline belongs as seen from the hand.
func (c *Circles) relink(i uint32, n *level.Node) {
	c.Unlink(n)
	c.link(i, n, false)
}

// Remove ends node i, in a slot or not, and says which memory went back with it.
func (c *Circles) Remove(i uint32, n *level.Node) level.Released {
	switch k := n.Circle(); {
	case k == level.Unlinked:
	case k == level.Gathered || c.active != 0:
		c.takeOut(n)
	case c.circle[k].Remove(&c.arena, n):
		c.occupied &^= 1 << uint(k)
	}
	return c.arena.Free(i, n)
}

// Move gives node i, in a slot or not, a new deadline and order. One that moves later, or
// earlier within the slot of its present deadline, stays where it is, which costs one cache
// miss instead of four. The slot finds out when its turn comes, once for any number of moves.
//
// The processor cannot predict whether a timer moves earlier or later. A branch on it would
// stall until n is loaded, so there is none, and the common path is short.
//
// Where order is kept, the timer is moved behind the others instead. That keeps a crowd of
// one deadline sorted, which would otherwise be sorted again for each timer that a callback
// moves there.
func (c *Circles) Move(i uint32, n *level.Node, now, deadline int64, sequence uint64) {
	if k := n.Circle(); k < level.Gathered {
		earlier := (deadline - n.Key) >> 63 // all bits are set if it is, else none
		if (deadline^n.Key)>>(c.layout.shift(k)&63)&earlier == 0 && !c.inOrder {
			n.Rekey(deadline, sequence)
			l := &c.circle[k]
			if c.onAhead(n) {
				l = c.aheadLevel(n)
			}
			l.Rekeyed(n, earlier)
			return
		}
	}
	if n.Circle() != level.Unlinked {
		c.takeOut(n)
	}
	if now-c.hand > lag {
		c.advance(now)
	}
	n.Rekey(deadline, sequence)
	c.link(i, n, true)
}

// first is the first slot in time that holds a node, and when it starts. One must be
// occupied. The finest circle comes first, but for what is behind the hand: there the
// coarsest does.
func (c *Circles) first() (k, s int, start int64) {
	if c.behind == 0 || !c.anyBehind() {
		k = bits.TrailingZeros32(c.occupied)
	} else {
		k = bits.Len32(c.behind) - 1
	}
	s = c.circle[k].First()
	return k, s, c.layout.SlotStart(k, s, c.hand)
}

// anyBehind tells whether a node is behind the hand, on the highest circle of behind.
func (c *Circles) anyBehind() bool {
	for c.behind != 0 {
		k := bits.Len32(c.behind) - 1
		if l := &c.circle[k]; !l.Empty() && l.First() < c.layout.SlotFor(k, c.hand) {
			return true
		}
		c.behind &^= 1 << uint(k)
	}
	return false
}

// advance moves the hand as near to now as the first slot lets it, so that new timers are
// placed finely.
func (c *Circles) advance(now int64) {
	if c.open != 0 {
		return
	}
	if start, ok := c.aheadStart(); ok && start <= now {
		now = start - 1
	}
	if c.occupied != 0 {
		if _, _, start := c.first(); start <= c.hand {
			return
		} else if start <= now {
			now = start - 1
		}
	}
	c.hand = max(c.hand, now)
}
