package circles

import "github.com/epicycle-go/epicycle/level"

// link adds an entry for node i where it belongs. The node must not be counted in a slot.
func (c *Circles) link(i uint32, n *level.Node) {
	if n.Key < c.hand {
		n.Relink(level.Passed, 0)
		c.addPassed(i, n)
		return
	}
	k := c.layout.CircleFor(n.Key, c.hand)
	s := c.layout.SlotFor(k, n.Key)
	n.Relink(k, s)
	c.addTo(k, s, n.Key, level.Entry{Node: i, Stamp: n.Stamp()})
}

// isBefore reports whether the entry of n is still reached before n is due, although the deadline of n has moved
// earlier. Then the entry is in a slot that was not opened, sorted or dealt ahead. For a slot with a single instant,
// isBefore reports false, since the entries of such a slot stay in order.
func (c *Circles) isBefore(n *level.Node) bool {
	k, s := n.Circle(), n.Slot()
	if k >= level.Passed || n.Key < c.hand || s <= c.layout.SlotFor(k, c.hand) {
		return false
	}
	if to := c.layout.CircleFor(n.Key, c.hand); to < k || to == k && c.layout.SlotFor(k, n.Key) < s {
		return false
	}
	b := c.circle[k&15].Slots[s]
	return b != nil && b.least < n.Key && b.finer == nil && b.run == nil
}

// follow links node i, whose entry was in a slot in which it is not due, to the slot where it belongs now.
func (c *Circles) follow(i uint32, n *level.Node) {
	c.leave(n)
	c.link(i, n)
}

func (c *Circles) addPassed(i uint32, n *level.Node) {
	c.passed.insert(item{n.Key, n.Order(), level.Entry{Node: i, Stamp: n.Stamp()}})
	c.entries++
	c.behind++
}

// addTo adds e, whose node has the deadline key, to slot s of circle k, or to a finer slot if slot s was dealt ahead.
func (c *Circles) addTo(k, s int, key int64, e level.Entry) {
	r := c.circle[k&15]
	if r == nil {
		r = c.ring(k)
	}
	c.entries++
	r.live[s&(level.Slots-1)]++
	b := r.Slots[s&(level.Slots-1)]
	if b == nil {
		b = c.bag(r, s)
		b.least, b.most = key, key
		c.occupied |= 1 << uint(k)
	}
	if b.Full() || b.finer != nil || b.run != nil ||
		b.Blocks() >= c.fullUpTo && r.crowds>>uint(s)&1 == 0 && (key != b.least || key != b.most) {
		c.put(r, s, key, e)
		return
	}
	b.least, b.most = min(b.least, key), max(b.most, key)
	b.Push(e)
}

// put adds e, whose node has the deadline key, to slot s of r, which is the ring of a circle, or to a finer slot if
// slot s was dealt ahead.
func (c *Circles) put(r *ring, s int, key int64, e level.Entry) {
	c.occupied |= 1 << uint(r.circle)
	c.putIn(r, s, key, e)
}

func (c *Circles) putIn(r *ring, s int, key int64, e level.Entry) {
	b := r.Slots[s]
	if b == nil || b.finer == nil {
		c.push(r, s, key, e)
		return
	}
	b.least = min(b.least, key)
	finer := b.finer
	c.putIn(finer, c.layout.SlotFor(finer.circle, key), key, e)
	if finer.crowds != 0 {
		c.noteCrowd(r, s)
	}
}

// push adds e, whose node has the deadline key, to slot s of r.
func (c *Circles) push(r *ring, s int, key int64, e level.Entry) {
	b := c.bag(r, s)
	b.span(key)
	c.memory.Add(&b.Chain, e)
	if c.isCrowd(r.circle, b) {
		c.noteCrowd(r, s)
	}
}

// noteCrowd records that slot s of r is a crowd.
func (c *Circles) noteCrowd(r *ring, s int) {
	r.crowds |= 1 << uint(s)
	if c.circle[r.circle] == r {
		c.crowded |= 1 << uint(r.circle)
	}
}
