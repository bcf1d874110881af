package circles

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/epicycle-go/epicycle/level"
)

// growth is a crop that is being made: nodes are taken out of their slots, and then sorted.
// Both can be done in portions, ahead of their time.
type growth struct {
	circle, slot int
	ahead        bool  // the slot is on the circle's other side
	start        int64 // no node is due before
	taking       bool
	left         int // how many nodes are to be taken out of the slot

	// Nodes from the slot's head are in head. Those from its tail are at the end of all, the
	// last first, so that all is in the order of setting when both meet.
	head []reaped
	all  []reaped
	tail int // all[tail:] is filled

	lo, hi      int64  // the earliest deadline and the latest
	first, last uint64 // the least order and the greatest
	sort        radixSort
}

// newGrowth makes a growth of n nodes, with an array for them.
func (c *Circles) newGrowth(n int) *growth {
	g := c.idle
	if c.idle = nil; g == nil {
		g = new(growth)
	}
	g.taking, g.left, g.tail = true, n, n
	g.all = c.buffer(n)
	g.head = g.all[:0]
	g.lo, g.hi = math.MaxInt64, math.MinInt64
	g.first, g.last = math.MaxUint64, 0
	return g
}

// growSlot makes a growth of slot s of circle k, which holds a node, or of the other side of
// that circle.
func (c *Circles) growSlot(k, s int, ahead bool) *growth {
	l, hand := c.sideOf(k, ahead), c.hand
	if ahead {
		hand = c.ahead[k+1].start
	}
	g := c.newGrowth(l.Len(s))
	g.circle, g.slot, g.ahead, g.start = k, s, ahead, c.layout.slotStart(k, s, hand)
	return g
}

// sideOf is circle k, or its other side.
func (c *Circles) sideOf(k int, ahead bool) *level.Level {
	if ahead {
		return &c.ahead[k+1].Level
	}
	return &c.circle[k]
}

// take notes a node.
func (g *growth) take(i uint32, n *level.Node) reaped {
	g.lo, g.hi = min(g.lo, n.Key), max(g.hi, n.Key)
	g.first, g.last = min(g.first, n.Order()), max(g.last, n.Order())
	return reaped{n.Key, i, uint32(n.Order())}
}

// takeSome takes nodes out of the slot, from both ends in turn: the processor need not wait
// for the memory of one end alone. It returns what is left of the budget.
func (c *Circles) takeSome(g *growth, budget int) (left int) {
	l := c.sideOf(g.circle, g.ahead)
	for g.left > 0 && budget > 0 && l.Len(g.slot) > 0 {
		if g.left%2 == 0 {
			i := l.Head(g.slot)
			n := c.arena.At(i)
			g.head = append(g.head, g.take(i, n))
			c.Unlink(n)
		} else {
			i := l.Tail(g.slot)
			n := c.arena.At(i)
			g.tail--
			g.all[g.tail] = g.take(i, n)
			c.Unlink(n)
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
func (c *Circles) endTaking(g *growth) {
	g.taking = false
	entries := append(g.head, g.all[g.tail:]...)
	width := bits.Len64(uint64(g.hi - g.lo))
	if slices.IsSortedFunc(entries, func(x, y reaped) int { return cmp.Compare(x.key, y.key) }) {
		width = 0
	}
	g.head, g.all = nil, nil
	g.sort.begin(entries, c.buffer(len(entries)), g.lo, width)
}

// sortedPerTaken is how many entries are sorted by one digit in the time in which one node
// is taken out of its slot.
const sortedPerTaken = 16

// grow goes on with g, at the cost of about budget nodes, and tells whether it is done.
func (c *Circles) grow(g *growth, budget int) (done bool) {
	if g.taking {
		if budget = c.takeSome(g, budget); g.left > 0 {
			return false
		}
		c.endTaking(g)
	}
	if budget < math.MaxInt/sortedPerTaken {
		budget *= sortedPerTaken
	}
	return g.sort.run(budget)
}

// finishGrowing makes a crop of what is growing.
func (c *Circles) finishGrowing() {
	c.grow(c.growing, math.MaxInt)
	c.reapGrown(c.growing)
	c.growing = nil
}

// reapGrown makes a crop of g, which is sorted by deadline.
func (c *Circles) reapGrown(g *growth) {
	c.sortInstants(g)
	c.crops = append(c.crops, crop{entries: g.sort.from})
	c.giveBack(g.sort.to)
	g.sort.from, g.sort.to = nil, nil
	c.idle = g
}

// sortInstants sorts by order of setting what has one deadline. Mostly, it is in that order.
func (c *Circles) sortInstants(g *growth) {
	byOrder := func(x, y reaped) int { return cmp.Compare(int32(x.order-y.order), 0) }
	if g.last-g.first > math.MaxInt32 { // what an entry has of it does not do
		order := func(e reaped) uint64 { return c.arena.At(e.index).Order() }
		byOrder = func(x, y reaped) int { return cmp.Compare(order(x), order(y)) }
	}
	entries := g.sort.from
	for i := 0; i < len(entries); {
		j := i + 1
		for j < len(entries) && entries[j].key == entries[i].key {
			j++
		}
		if j > i+1 && !slices.IsSortedFunc(entries[i:j], byOrder) {
			slices.SortFunc(entries[i:j], byOrder)
		}
		i = j
	}
}

// growAhead goes on with the crop that is growing, or begins with the next crowd if that lies
// in the slot after the hand's. It tells whether it has used the budget.
func (c *Circles) growAhead(now int64, budget int) (used bool) {
	if c.growing == nil {
		if c.anyBehind() {
			return false // that comes first
		}
		for k := 1; k < c.layout.count && c.growing == nil; k++ {
			c.beginToGrow(k, now)
		}
		if c.growing == nil {
			return false
		}
	}
	return !c.grow(c.growing, budget)
}

// beginToGrow makes a growth of the first slot of circle k, or of its other side, if that is
// a crowd of a size for a crop, and it is time.
func (c *Circles) beginToGrow(k int, now int64) {
	isFor := func(l *level.Level, hand int64) bool {
		if l.Empty() || !c.isCrowd(l, l.First()) || c.beginFor(k, l, hand) > now {
			return false
		}
		end := c.layout.slotEnd(k, c.layout.slotStart(k, l.First(), hand))
		return l.Len(l.First()) <= c.tuning.ReapUpTo || end <= now
	}
	if l := &c.circle[k]; isFor(l, c.hand) && !c.isOpen(k, l.First()) {
		c.growing = c.growSlot(k, l.First(), false)
	} else if c.active>>uint(k+1)&1 != 0 && isFor(&c.ahead[k+1].Level, c.ahead[k+1].start) {
		c.growing = c.growSlot(k, c.ahead[k+1].First(), true)
	}
}

// buffer is an array for n entries, which it may have held before.
func (c *Circles) buffer(n int) []reaped {
	for len(c.buffers) > 0 {
		last := len(c.buffers) - 1
		b := c.buffers[last]
		c.buffers = c.buffers[:last]
		if cap(b) >= n {
			return b[:n]
		}
	}
	return make([]reaped, n, max(n, level.Slots))
}

// giveBack keeps an array for the next crop, unless it is large.
func (c *Circles) giveBack(b []reaped) {
	if cap(b) > 0 && cap(b) <= c.tuning.ReapUpTo && len(c.buffers) < 2 {
		c.buffers = append(c.buffers, b)
	}
}
