package hierarchy

import (
	"math"
	"math/bits"

	"github.com/epicycle-go/epicycle/level"
)

// lag is how far the hand may stay behind before a set moves it on.
const lag = 1 << 16

// circles is all circles over one arena: the wheel itself, without lock or
// clock. Times are passed in and never go back.
//
// Invariant: hand <= the time of every call.
// Invariant: a node in slot s of circle k has s > digit k of hand, or k is 0 and
// s >= it, or s is the slot under the hand and bit k of open is set.
// Invariant: a slot's range never lies after the deadline of a node in it; it
// may lie before it, as a deadline that moves later stays where it is.
type circles struct {
	occupied uint32 // Invariant: bit k is set iff circle k holds a node.
	open     uint32 // bit k: the slot of circle k under the hand is being cascaded
	hand     int64
	arena    level.Arena
	aheads
	layout
	ordered  bool // timers of one instant come in the order of their setting, whatever it takes
	cascaded uint64
	circle   [maxLevels]level.Level
}

// add links a new node.
func (c *circles) add(now, deadline int64, sequence uint64, f level.Flags) uint32 {
	if now-c.hand > lag {
		c.advance(now)
	}
	i := c.arena.Alloc()
	n := c.arena.At(i)
	t := max(deadline, c.hand)
	k := c.levelFor(t, c.hand)
	n.Init(deadline, sequence, f, k, c.slotFor(k, t), c.side(k))
	if c.active != 0 && c.linkAhead(i, n) {
		return i
	}
	c.circle[k].Push(&c.arena, i, n)
	c.occupied |= 1 << uint(k)
	return i
}

// link puts node i into the slot of its deadline. A deadline that the hand has
// passed goes to the slot under the hand, where exact deadlines decide.
func (c *circles) link(i uint32, n *level.Node) {
	t := max(n.Key, c.hand)
	if c.active != 0 && c.linkAhead(i, n) {
		return
	}
	k := c.levelFor(t, c.hand)
	n.Place(k, c.slotFor(k, t), c.side(k))
	c.circle[k].Push(&c.arena, i, n)
	c.occupied |= 1 << uint(k)
}

// unlink takes n out of its slot; it stays alive, held.
func (c *circles) unlink(n *level.Node) {
	k := n.Circle()
	if c.onAhead(n) {
		c.levelAhead(n).Remove(&c.arena, n)
	} else if c.circle[k].Remove(&c.arena, n) {
		c.occupied &^= 1 << uint(k)
	}
	n.Hold()
}

// remove ends node i, linked or held. It returns what Arena.Free does.
func (c *circles) remove(i uint32, n *level.Node) (given uint32) {
	switch k := n.Circle(); {
	case k == level.Held:
	case c.active != 0:
		c.unlink(n)
	case c.circle[k].Remove(&c.arena, n):
		c.occupied &^= 1 << uint(k)
	}
	return c.arena.Free(i, n)
}

// move gives node i, linked or held, a new deadline. One that moves later, or
// earlier within its slot, stays where it is, which costs one cache miss instead of
// four; the slot finds out when its turn comes, once for any number of moves.
//
// Nobody can foretell which way it moves, and the processor is to go on with what
// comes after this call while it waits for n: hence no branch, and little to do.
//
// Where timers of one instant come in the order of their setting it is moved behind
// the others, which keeps a crowd of one instant sorted. It would otherwise be sorted
// again for each timer that a callback moves there.
func (c *circles) move(i uint32, n *level.Node, now, deadline int64, sequence uint64) {
	if k := n.Circle(); k != level.Held {
		earlier := (deadline - n.Key) >> 63 // all bits are set if it is, else none
		if (deadline^n.Key)>>(c.shift(k)&63)&earlier == 0 && !c.ordered {
			n.Rekey(deadline, sequence)
			l := &c.circle[k]
			if c.onAhead(n) {
				l = c.levelAhead(n)
			}
			l.Rekeyed(n, earlier)
			return
		}
		c.unlink(n)
	}
	if now-c.hand > lag {
		c.advance(now)
	}
	n.Rekey(deadline, sequence)
	c.link(i, n)
}

// first is the first slot in time that holds a node, and where it starts.
func (c *circles) first() (k, s int, start int64) {
	k = bits.TrailingZeros32(c.occupied)
	s = c.circle[k].First()
	return k, s, c.slotStart(k, s, c.hand)
}

// advance moves the hand as near to now as the first slot lets it, so that new
// timers are placed finely.
func (c *circles) advance(now int64) {
	if c.open != 0 {
		return
	}
	if c.active != 0 {
		now = min(now, c.aheads.next()-1)
	}
	if c.occupied != 0 {
		_, _, start := c.first()
		now = min(now, start-1)
	}
	c.hand = max(c.hand, now)
}

// relink puts node i where its deadline belongs as seen from the hand.
func (c *circles) relink(i uint32, n *level.Node) {
	c.unlink(n)
	c.link(i, n)
}

// earliest is the earliest timer, due or not, or 0. Unlike next it may walk a
// whole slot: it serves questions, not the way to firing.
func (c *circles) earliest() uint32 {
	for c.pour(math.MaxInt); c.occupied != 0; {
		k, s, start := c.first()
		l := &c.circle[k]
		if l.Len(s) <= c.crowd {
			l.Sort(&c.arena, s)
		}
		if i := c.earliestIn(l, s, c.slotEnd(k, start)); i != 0 {
			return i
		}
	}
	return 0
}

// earliestIn is the earliest timer of a slot that ends at end, or 0 if all have
// moved on: those that it comes across are linked where they belong.
func (c *circles) earliestIn(l *level.Level, s int, end int64) (best uint32) {
	for l.Len(s) > 0 && l.Sorted(s) {
		i := l.Head(s)
		if n := c.arena.At(i); n.Key > end {
			c.relink(i, n)
			continue
		}
		return i
	}
	l.Each(&c.arena, s, func(i uint32, n *level.Node) {
		switch {
		case n.Key > end:
			c.relink(i, n)
		case best == 0 || n.Before(c.arena.At(best)):
			best = i
		}
	})
	return best
}
