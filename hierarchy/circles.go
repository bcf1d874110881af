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
	n.Init(deadline, sequence, f, k, c.slotFor(k, t))
	c.circle[k].Push(&c.arena, i, n)
	c.occupied |= 1 << uint(k)
	return i
}

// link puts node i into the slot of its deadline. A deadline that the hand has
// passed goes to the slot under the hand, where exact deadlines decide.
func (c *circles) link(i uint32, n *level.Node) {
	t := max(n.Key, c.hand)
	k := c.levelFor(t, c.hand)
	n.Place(k, c.slotFor(k, t))
	c.circle[k].Push(&c.arena, i, n)
	c.occupied |= 1 << uint(k)
}

// unlink takes n out of its slot; it stays alive, held.
func (c *circles) unlink(n *level.Node) {
	k := n.Circle()
	if c.circle[k].Remove(&c.arena, n) {
		c.occupied &^= 1 << uint(k)
	}
	n.Hold()
}

// remove ends node i, linked or held. It returns what Arena.Free does.
func (c *circles) remove(i uint32, n *level.Node) (given uint32) {
	if k := n.Circle(); k != level.Held && c.circle[k].Remove(&c.arena, n) {
		c.occupied &^= 1 << uint(k)
	}
	return c.arena.Free(i, n)
}

// move gives node i, linked or held, a new deadline. One that moves later, or
// earlier in its slot, stays where it is, which costs one cache miss instead of
// four; the slot finds out when its turn comes, once for any number of moves.
func (c *circles) move(i uint32, n *level.Node, now, deadline int64, sequence uint64) {
	if k := n.Circle(); k != level.Held {
		earlier := (deadline - n.Key) >> 63 // all bits are set if it is; nobody can foretell it
		if c.misplaced(n, deadline)&earlier == 0 {
			n.Rekey(deadline, sequence)
			c.circle[k].Rekeyed(n, earlier)
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

// misplaced is 0 if n sits where that deadline would have it sit.
func (c *circles) misplaced(n *level.Node, deadline int64) int64 {
	t := max(deadline, c.hand)
	k := c.levelFor(t, c.hand)
	return int64((k ^ n.Circle()) | (c.slotFor(k, t) ^ n.Slot()))
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
	if c.occupied != 0 {
		_, _, start := c.first()
		now = min(now, start-1)
	}
	c.hand = max(c.hand, now)
}

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
	for c.occupied != 0 && budget > 0 {
		i, at, budget = c.look(now, budget)
		switch {
		case i != 0 || at != 0 && c.open == 0:
			return i, at
		case at != 0: // but an open slot may hold something earlier
			budget = c.pour(budget)
		}
	}
	if c.occupied != 0 {
		return 0, 0
	}
	c.open, c.hand = 0, max(c.hand, now)
	return 0, never
}

// look looks at the first slot. It returns the earliest timer if that is due, or a
// time before which nothing outside the open slots is due, or, if there was
// something else to do first, neither. left is what is left of the budget.
func (c *circles) look(now int64, budget int) (i uint32, at int64, left int) {
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
