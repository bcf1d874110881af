package circles

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/epicycle-go/epicycle/level"
)

// gathering is a queue in the making. Nodes are taken out of a slot, and then sorted. Both can
// be done in portions, before the slot's time.
type gathering struct {
	circle, slot int
	ahead        bool  // the slot is on the circle's other side
	start        int64 // when the slot starts

	taking bool
	left   int // how many nodes are still to be taken
	// Nodes from the head of the slot's list are in head, which is the first part of all.
	// Those from its tail are in all[tail:], in the order of the list.
	head, all []entry
	tail      int

	lo, hi      int64  // the earliest deadline and the latest
	first, last uint64 // the least order and the greatest
	sort        radixSort
	ordered     int // so many, once they are sorted by deadline, are in order
}

// newGathering makes a gathering with room for n nodes.
func (c *Circles) newGathering(n int) *gathering {
	g := c.idle
	if c.idle = nil; g == nil {
		g = new(gathering)
	}
	g.taking, g.left, g.tail, g.ordered = true, n, n, 0
	g.all = c.buffer(n)
	g.head = g.all[:0]
	g.lo, g.hi = math.MaxInt64, math.MinInt64
	g.first, g.last = math.MaxUint64, 0
	return g
}

// gatherFrom makes a gathering of slot s of circle k, or of the circle's other side. The slot
// must hold a node.
func (c *Circles) gatherFrom(k, s int, ahead bool) *gathering {
	l, hand := c.sideOf(k, ahead), c.hand
	if ahead {
		hand = c.ahead[k+1].start
	}
	g := c.newGathering(l.Len(s))
	g.circle, g.slot, g.ahead, g.start = k, s, ahead, c.layout.SlotStart(k, s, hand)
	c.from.circle, c.from.slot = k, s
	return g
}

// sideOf is circle k, or its other side.
func (c *Circles) sideOf(k int, ahead bool) *level.Level {
	if ahead {
		return &c.ahead[k+1].Level
	}
	return &c.circle[k]
}

// note notes a node that is taken out of its slot.
func (c *Circles) note(g *gathering, i uint32, n *level.Node) entry {
	c.inQueues++
	c.entries++
	g.lo, g.hi = min(g.lo, n.Key), max(g.hi, n.Key)
	g.first, g.last = min(g.first, n.Order()), max(g.last, n.Order())
	return entry{n.Key, i, uint32(n.Order())}
}

// takesFrom tells whether g, which may be nil, still takes nodes out of slot s of circle k.
func (g *gathering) takesFrom(k, s int) bool {
	return g != nil && g.taking && g.left > 0 && g.circle == k && g.slot == s && !g.ahead
}

// takeSome takes nodes out of the slot, from both ends in turn: the processor need not wait
// for the memory of one end alone. It returns what is left of the budget.
func (c *Circles) takeSome(g *gathering, budget int) (left int) {
	l := c.sideOf(g.circle, g.ahead)
	for g.left > 0 && budget > 0 && l.Len(g.slot) > 0 {
		if g.left%2 == 0 {
			i := l.Head(g.slot)
			n := c.arena.At(i)
			g.head = append(g.head, c.note(g, i, n))
			c.takeOut(n)
			n.Gather()
		} else {
			i := l.Tail(g.slot)
			n := c.arena.At(i)
			g.tail--
			g.all[g.tail] = c.note(g, i, n)
			c.takeOut(n)
			n.Gather()
		}
		g.left--
		budget--
		c.visited++
		c.cascaded++
	}
	if l.Len(g.slot) == 0 {
		g.left = 0
	}
	return budget
}

// endTaking makes ready to sort.
func (c *Circles) endTaking(g *gathering) {
	g.taking = false
	entries := g.all
	if len(g.head) < g.tail { // some have gone meanwhile
		entries = append(g.head, g.all[g.tail:]...)
	}
	width := bits.Len64(uint64(g.hi - g.lo))
	if slices.IsSortedFunc(entries, func(x, y entry) int { return cmp.Compare(x.key, y.key) }) {
		width = 0
	}
	g.head, g.all = nil, nil
	g.sort.begin(entries, c.buffer(len(entries)), g.lo, width)
}

// sortedPerTaken is how many entries are sorted by one digit in the time in which one node
// is taken out of its slot.
const sortedPerTaken = 16

// gather goes on with g and tells whether it is done. It takes about as long as taking budget
// nodes out of their slot.
func (c *Circles) gather(g *gathering, budget int) (done bool) {
	if g.taking {
		if budget = c.takeSome(g, budget); g.left > 0 {
			return false
		}
		c.endTaking(g)
	}
	if budget < math.MaxInt/sortedPerTaken {
		budget *= sortedPerTaken
	}
	budget = g.sort.run(budget)
	return budget > 0 && (!c.inOrder || c.sortInstants(g, budget))
}

// finishNext makes a queue of next, which is not nil.
func (c *Circles) finishNext() {
	c.gather(c.next, math.MaxInt)
	c.enqueue(c.next)
	c.next = nil
}

// enqueue makes a queue of g, which is done.
func (c *Circles) enqueue(g *gathering) {
	c.queues = append(c.queues, queue{entries: g.sort.from, first: g.first, last: g.last})
	if len(c.queues) > maxQueues {
		c.mergeShortest()
	}
	c.giveBack(g.sort.to)
	g.sort.from, g.sort.to = nil, nil
	c.idle = g
}

// sortInstants sorts by order of setting what has one deadline, and tells whether it is done.
// It goes through about so many entries. Mostly, they are in that order.
func (c *Circles) sortInstants(g *gathering, entries int) (done bool) {
	byOrder := func(x, y entry) int { return cmp.Compare(int32(x.order-y.order), 0) }
	if g.last-g.first > math.MaxInt32 { // low bits don't tell
		byOrder = func(x, y entry) int { return cmp.Compare(c.orderOf(x), c.orderOf(y)) }
	}
	all := g.sort.from
	for begin := g.ordered; g.ordered < len(all); {
		i, j := g.ordered, g.ordered+1
		for j < len(all) && all[j].key == all[i].key {
			j++
		}
		if j > i+1 && !slices.IsSortedFunc(all[i:j], byOrder) {
			slices.SortFunc(all[i:j], byOrder)
		}
		if g.ordered = j; j-begin > entries {
			return false
		}
	}
	return true
}

// orderOf is the whole order of e, or 0 if its node was moved or removed since it was taken.
func (c *Circles) orderOf(e entry) uint64 {
	if !c.stillGathered(e) {
		return 0
	}
	return c.arena.At(e.index).Order()
}

// gatherAhead goes on with next, or begins with a crowd whose time comes soon. It tells whether
// the budget is used up.
func (c *Circles) gatherAhead(now int64, budget int) (used bool) {
	if c.next == nil {
		if c.anyBehind() {
			return false // that comes first
		}
		for k := 1; k < c.layout.count && c.next == nil; k++ {
			c.beginGathering(k, now)
		}
		if c.next == nil {
			return false
		}
	}
	return !c.gather(c.next, budget)
}

// beginGathering makes next of the first slot of circle k, or of its other side, if that slot
// holds a crowd, its time comes soon, and it is due as a whole or small enough.
func (c *Circles) beginGathering(k int, now int64) {
	suits := func(l *level.Level, hand int64) bool {
		if l.Empty() || !c.isCrowd(l, l.First()) || c.beginFor(k, l, hand) > now {
			return false
		}
		end := c.layout.SlotEnd(k, c.layout.SlotStart(k, l.First(), hand))
		return l.Len(l.First()) <= c.tuning.GatherUpTo || end <= now
	}
	if l := &c.circle[k]; suits(l, c.hand) && !c.isOpen(k, l.First()) {
		c.next = c.gatherFrom(k, l.First(), false)
	} else if c.active>>uint(k+1)&1 != 0 && suits(&c.ahead[k+1].Level, c.ahead[k+1].start) {
		c.next = c.gatherFrom(k, c.ahead[k+1].First(), true)
	}
}

// buffer is an array for n entries, which it may have held before.
func (c *Circles) buffer(n int) []entry {
	for len(c.buffers) > 0 {
		last := len(c.buffers) - 1
		b := c.buffers[last]
		c.buffers = c.buffers[:last]
		if cap(b) >= n {
			return b[:n]
		}
	}
	return make([]entry, n, max(n, level.Slots))
}

// giveBack keeps an array for the next queue, unless it is large, or longer than there are
// timers left.
func (c *Circles) giveBack(b []entry) {
	if most := min(c.tuning.GatherUpTo, c.arena.Len()); cap(b) > 0 && cap(b) <= most && len(c.buffers) < 2 {
		c.buffers = append(c.buffers, b)
	}
}
