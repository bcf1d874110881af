package hierarchy

import (
	"math/bits"

	"github.com/epicycle-go/epicycle/level"
)

const (
	// defaultForeseen is the smallest crowd that is poured out ahead of time. A
	// smaller one is done within the default Precision, and what is poured just
	// before it fires is still in the processor's caches then.
	defaultForeseen = 4096
	// defaultPourTime is how long before its time a crowd's slot begins to be poured
	// out, in nanoseconds for each timer in it: some times as long as it takes.
	defaultPourTime = 500
	// defaultSparse is of how many nodes, live or not, one must be in a crowd's slot for
	// all to be looked through in the order of memory, rather than the slot's in the
	// order of its list: each step along that waits for memory, unless they were set in
	// this order.
	defaultSparse = 16
	// glances is how many nodes may be looked at, in the order of memory, instead of
	// one that is poured.
	glances = 8
)

// ahead is the other side of a circle: what that will hold when the hand has come to
// a slot of the next coarser circle, in which there was a crowd. The slot is poured
// out before its time; else its first timers would wait until all have come down.
type ahead struct {
	level.Level
	slot       int    // of the coarser circle
	swept      uint32 // where in the arena to go on, or 0: from now on the list is followed
	start, end int64  // its first and last time
}

// aheads are those of all circles, by the number of the coarser one. A node is on
// one of them, and not on the circle of that number, if its side is not what sides
// says.
type aheads struct {
	active uint32 // bit k: ahead[k] is in use
	sides  uint32 // bit k: the side of the nodes on circle k itself
	ahead  [maxLevels]*ahead
}

// side is the side of nodes on circle k itself.
func (a *aheads) side(k int) int { return int(a.sides >> uint(k) & 1) }

// onAhead tells whether n, which is linked, is on what lies ahead.
func (a *aheads) onAhead(n *level.Node) bool {
	return a.active != 0 && n.Side() != a.side(n.Circle())
}

// levelAhead is what lies ahead where n is.
func (a *aheads) levelAhead(n *level.Node) *level.Level { return &a.ahead[n.Circle()+1].Level }

// each calls f for all that is in use, finest first, until f says that it is done.
func (a *aheads) each(f func(k int, a *ahead) (done bool)) {
	for left := a.active; left != 0; left &= left - 1 {
		if k := bits.TrailingZeros32(left); f(k, a.ahead[k]) {
			return
		}
	}
}

// empty tells whether no node lies ahead.
func (a *aheads) empty() bool {
	empty := true
	a.each(func(_ int, a *ahead) bool {
		empty = a.Empty()
		return !empty
	})
	return empty
}

// next is when the hand comes to the first slot that is poured out ahead.
func (a *aheads) next() int64 {
	start := never
	a.each(func(_ int, a *ahead) bool {
		start = a.start
		return true // the finest is the first
	})
	return start
}

// linkAhead puts node i where it will belong when the hand has come to the slot of
// its deadline, if that slot is poured out ahead. It is seldom called, and so not
// to be part of link and add, which are hot.
//
//go:noinline
func (c *circles) linkAhead(i uint32, n *level.Node) (linked bool) {
	c.each(func(k int, a *ahead) bool {
		if linked = a.start <= n.Key && n.Key <= a.end; linked {
			n.Place(k-1, c.slotFor(k-1, n.Key), 1-c.side(k-1))
			a.Push(&c.arena, i, n)
		}
		return linked
	})
	return linked
}

// foresee is called when nothing is due before at. It pours out the crowds whose
// time has come for that, and returns when to come back, or 0 if there is more to do.
func (c *circles) foresee(now, at int64, budget int) (until int64, left int) {
	if c.ordered {
		return at, budget // while a mock stands still nobody waits
	}
	k, begin := c.nextCrowd()
	if begin <= now { // before the others are done: a finer one is nearer
		c.lookAhead(k)
		return 0, budget
	}
	c.each(func(k int, a *ahead) bool {
		budget = c.pourAhead(k, a, budget)
		return budget == 0
	})
	if budget == 0 {
		return 0, 0
	}
	return min(at, begin, c.aheads.next()), budget
}

// nextCrowd is the circle whose first slot is the next crowd to be poured out, and
// when to begin.
func (c *circles) nextCrowd() (k int, begin int64) {
	begin = never
	for left := c.occupied &^ c.active &^ 1; left != 0; left &= left - 1 {
		j := bits.TrailingZeros32(left)
		l := &c.circle[j]
		s := l.First()
		if n := l.Len(s); n >= c.foreseen && !l.Sorted(s) && !c.isOpen(j, s) {
			if t := c.slotStart(j, s, c.hand) - int64(n)*c.pourTime; t < begin {
				k, begin = j, t
			}
		}
	}
	return k, begin
}

// wakeForCrowd is when the wheel must be awake to begin with a crowd. It is asked
// from time to time as crowds grow: nothing else wakes a wheel before the first of
// them is due.
func (c *circles) wakeForCrowd(now int64) int64 {
	if c.ordered {
		return never
	}
	_, begin := c.nextCrowd()
	return max(begin, now)
}

// lookAhead makes ready to pour out the first slot of circle k.
func (c *circles) lookAhead(k int) {
	a := c.ahead[k]
	if a == nil {
		a = new(ahead)
		c.ahead[k] = a
	}
	a.slot = c.circle[k].First()
	a.start = c.slotStart(k, a.slot, c.hand)
	a.end = c.slotEnd(k, a.start)
	a.swept = 1
	c.active |= 1 << uint(k)
}

// pourAhead goes on with a slot of circle k and returns what is left of the budget.
func (c *circles) pourAhead(k int, a *ahead, budget int) int {
	budget = c.sweepAhead(k, a, budget)
	for l := &c.circle[k]; l.Len(a.slot) > 0 && budget > 0; budget-- {
		i := l.Head(a.slot)
		if budget%2 == 0 { // two lists to go along: one need not wait for the other
			i = l.Tail(a.slot)
		}
		c.relink(i, c.arena.At(i))
		c.cascaded++
	}
	return budget
}

// sweepAhead does the same in the order of memory, as long as the slot is crowded.
func (c *circles) sweepAhead(k int, a *ahead, budget int) int {
	if c.circle[k].Len(a.slot)*c.sparse < c.arena.Entries()-int(a.swept) {
		a.swept = 0
	}
	for a.swept != 0 && c.circle[k].Len(a.slot) > 0 && budget > 0 {
		i, next, looked := c.arena.Seek(a.swept, k, a.slot, c.side(k), budget*glances)
		a.swept = next
		cost := looked / glances
		if i != 0 {
			c.relink(i, c.arena.At(i))
			c.cascaded++
			cost++
		}
		budget = max(0, budget-cost)
	}
	return budget
}

// arrive moves the hand to the first slot that was poured out ahead, if its time has
// come and nothing is left that is due before. The next finer circle, empty now, is
// what was prepared. What could not be poured out in time is open from now on.
// It tells whether the hand was moved: then the next one may have its turn, as what
// was prepared may turn out to be empty.
func (c *circles) arrive(now int64) bool {
	k := bits.TrailingZeros32(c.active)
	a := c.ahead[k]
	if now < a.start {
		return false
	}
	if c.occupied != 0 {
		if _, _, start := c.first(); start < a.start {
			return false
		}
	}
	c.active &^= 1 << uint(k)
	c.hand = a.start
	c.openIfAny(k)
	if a.Empty() {
		return true
	}
	c.circle[k-1] = a.Level
	a.Level = level.Level{}
	c.sides ^= 1 << uint(k-1)
	c.occupied |= 1 << uint(k-1)
	c.openIfAny(k - 1)
	return true
}

// openIfAny opens the slot of circle k under the hand if it holds a node.
func (c *circles) openIfAny(k int) {
	if k > 0 && c.circle[k].Len(c.slotFor(k, c.hand)) > 0 {
		c.open |= 1 << uint(k)
	}
}

// pending tells whether any node is linked.
func (c *circles) pending() bool { return c.occupied != 0 || c.active != 0 && !c.empty() }

// len is the number of nodes in slot s of circle k, poured out ahead or not.
func (c *circles) len(k, s int) int {
	n := c.circle[k].Len(s)
	if a := c.ahead[k]; c.active>>uint(k)&1 != 0 && a.slot == s {
		for s := range level.Slots {
			n += a.Len(s)
		}
	}
	return n
}
