package circles

import (
	"github.com/epicycle-go/epicycle/level"
	"github.com/epicycle-go/epicycle/level/arena"
)

// link adds an entry for node i where it belongs. The node must not be counted in a slot.
func (c *Circles) link(i uint32, n *arena.Node) {
	if n.Key < c.hand {
		n.Relink(arena.Overdue, 0)
		c.addOverdue(i, n)
		return
	}
	k := c.layout.CircleFor(n.Key, c.hand)
	s := c.layout.SlotFor(k, n.Key)
	n.Relink(k, s)
	c.addTo(k, s, n.Key, arena.Entry{Node: i, Stamp: n.Stamp()})
}

// isBefore reports whether the entry of n is still reached before n is due, although the deadline of n has moved
// earlier. Then the entry is in a slot that was not opened, sorted or cascaded ahead. For a slot with a single instant,
// isBefore reports false, since the entries of such a slot stay in order.
func (c *Circles) isBefore(n *arena.Node) bool {
	k, s := n.Circle(), n.Slot()
	if k >= arena.Overdue || n.Key < c.hand || s <= c.layout.SlotFor(k, c.hand) {
		return false
	}
	if to := c.layout.CircleFor(n.Key, c.hand); to < k || to == k && c.layout.SlotFor(k, n.Key) < s {
		return false
	}
	slot := c.circle[k&15].Slots[s]
	return slot != nil && slot.Least < n.Key && slot.Sub == nil && slot.Run == nil
}

// follow links node i, whose entry was in a slot in which it is not due, to the slot where it belongs now.
func (c *Circles) follow(i uint32, n *arena.Node) {
	c.leave(n)
	c.link(i, n)
}

func (c *Circles) addOverdue(i uint32, n *arena.Node) {
	c.overdue.insert(level.ItemOf(n, arena.Entry{Node: i, Stamp: n.Stamp()}))
	c.entries++
	c.behind++
}

// addTo adds e, whose node has the deadline key, to slot s of circle k, or to its sub-circle, if it has one.
func (c *Circles) addTo(k, s int, key int64, e arena.Entry) {
	circle := c.circle[k&15]
	if circle == nil {
		circle = c.circleAt(k)
	}
	c.entries++
	circle.Live[s&(level.Slots-1)]++
	slot := circle.Slots[s&(level.Slots-1)]
	if slot == nil {
		slot = c.slot(circle, s)
		slot.Least, slot.Most = key, key
		c.occupied |= 1 << uint(k)
	}
	if slot.Full() || slot.Sub != nil || slot.Run != nil ||
		slot.Blocks() >= c.fullUpTo && circle.Crowds>>uint(s)&1 == 0 && (key != slot.Least || key != slot.Most) {
		c.put(circle, s, key, e)
		return
	}
	slot.Least, slot.Most = min(slot.Least, key), max(slot.Most, key)
	slot.Push(e)
}

// put adds e, whose node has the deadline key, to slot s of a circle of the wheel, or to its sub-circle, if it
// has one.
func (c *Circles) put(circle *level.Circle, s int, key int64, e arena.Entry) {
	c.occupied |= 1 << uint(circle.Number)
	c.putIn(circle, s, key, e)
}

func (c *Circles) putIn(circle *level.Circle, s int, key int64, e arena.Entry) {
	slot := circle.Slots[s]
	if slot == nil || slot.Sub == nil {
		c.push(circle, s, key, e)
		return
	}
	slot.Least = min(slot.Least, key)
	c.putIn(slot.Sub, slot.Sub.Slot(key), key, e)
	if slot.Sub.Crowds != 0 {
		c.noteCrowd(circle, s)
	}
}

// push adds e, whose node has the deadline key, to slot s itself.
func (c *Circles) push(circle *level.Circle, s int, key int64, e arena.Entry) {
	slot := c.slot(circle, s)
	slot.Span(key)
	c.memory.Add(&slot.Chain, e)
	if c.isCrowd(circle.Number, slot) {
		c.noteCrowd(circle, s)
	}
}

// noteCrowd records that slot s of a circle may be a crowd.
func (c *Circles) noteCrowd(circle *level.Circle, s int) {
	circle.Crowds |= 1 << uint(s)
	if c.circle[circle.Number] == circle {
		c.crowded |= 1 << uint(circle.Number)
	}
}
