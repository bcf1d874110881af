package circles

import (
	"github.com/epicycle-go/epicycle/level"
	"github.com/epicycle-go/epicycle/level/arena"
)

// openSlot moves the hand to slot s of circle k, which must be the first occupied slot. It sorts the slot, moves it to
// a finer circle, or opens it to be cascaded. openSlot returns the number of entries that it has visited.
func (c *Circles) openSlot(k, s int, start int64) (cost int) {
	c.hand = max(c.hand, start)
	circle := c.circle[k]
	slot := circle.Slots[s]
	cost = 1
	if slot.Sub != nil || c.isLarge(slot) {
		c.unsort(slot)
	}
	switch {
	case slot.Sub == nil && !c.isLarge(slot):
		cost += slot.Len()
		c.sortUnderHand(k, slot, start)
	case slot.Sub == nil && k > 0 && c.isAtOneSlot(slot):
		c.handDown(slot)
	case slot.Len() > 0:
		if c.rest == nil {
			c.rest = new([maxCircles]arena.Chain)
		}
		c.rest[k] = slot.Chain
		c.open |= 1 << uint(k)
	}
	slot.Chain = arena.Chain{}
	sub := slot.Sub
	slot.Sub = nil
	c.vacate(circle, s)
	if sub != nil {
		cost += c.deliver(k-1, sub)
	}
	return cost
}

// isLarge reports whether a slot has too many entries to be sorted at once, including those that were already sorted.
func (c *Circles) isLarge(slot *level.Slot) bool {
	return slot.Size() > c.tuning.SortUpTo
}

// isInstant reports whether a slot has many timers of one deadline. Such a slot is never cascaded.
func (c *Circles) isInstant(slot *level.Slot) bool {
	return slot.Sub == nil && slot.Run == nil && slot.Least == slot.Most && c.isLarge(slot)
}

// isCrowd reports whether a slot of circle k is to be cascaded rather than sorted.
func (c *Circles) isCrowd(k int, slot *level.Slot) bool {
	return k > 0 && (slot.Sub != nil || c.isLarge(slot) && !c.isInstant(slot))
}

// isAtOneSlot reports whether all of the slot under the hand belongs in one slot of a finer circle.
func (c *Circles) isAtOneSlot(slot *level.Slot) bool {
	return slot.Least == slot.Most || c.layout.CircleFor(slot.Least, c.hand) > c.layout.CircleFor(slot.Least, slot.Most)
}

// sortUnderHand sorts the slot of circle k under the hand, so that it can fire.
func (c *Circles) sortUnderHand(k int, slot *level.Slot, start int64) {
	if k == 0 {
		c.unsort(slot)
		c.readInstant(&slot.Chain, Unlimited)
		c.memory.Drop(&slot.Chain)
		return
	}
	c.sortSlot(k, slot, start)
	c.runs[k] = slot.Run // all that was sorted there before has fired: the slot was opened because nothing comes first
	c.running |= 1 << uint(k)
	slot.Run = nil
}

// handDown moves all of the slot under the hand to the finer slot in which all of it belongs. All finer
// circles are empty.
func (c *Circles) handDown(slot *level.Slot) {
	k := c.layout.CircleFor(slot.Least, c.hand)
	circle, s := c.circleAt(k), c.layout.SlotFor(k, slot.Least)
	to := c.slot(circle, s)
	to.Chain, to.Least, to.Most = slot.Chain, slot.Least, slot.Most
	if c.isCrowd(k, to) {
		c.noteCrowd(circle, s)
	}
	c.noteCircle(k)
}

// deliver makes sub circle k, which must be empty. sub is the sub-circle of the slot under the hand.
func (c *Circles) deliver(k int, sub *level.Circle) (cost int) {
	if empty := c.circle[k]; empty != nil {
		c.retire(empty)
	}
	c.circle[k] = sub
	c.noteCircle(k)
	if s := sub.Slot(c.hand); sub.Has(s) {
		return c.openSlot(k, s, c.hand) // no other slot may come first
	}
	return 0
}

// noteCircle records what circle k holds, after it was filled.
func (c *Circles) noteCircle(k int) {
	if c.circle[k].Occupied != 0 {
		c.occupied |= 1 << uint(k)
	}
	if c.circle[k].Crowds != 0 {
		c.crowded |= 1 << uint(k)
	}
}

// sortSlot moves all of a slot of circle k to its run. The slot starts at start.
func (c *Circles) sortSlot(k int, slot *level.Slot, start int64) {
	r := slot.Run
	if r == nil {
		r = c.store.newRun(slot.Len())
		slot.Run = r
	}
	if slot.Len() == 0 {
		return
	}
	r.Shrink()
	sorted, end, taken := len(r.Items), c.layout.width(k).End(start), slot.Chain
	slot.Chain = arena.Chain{}
	for taken.Len() > 0 {
		group := taken.From(0, readTogether)
		c.read(r, group, start, end)
		c.memory.Take(&taken, len(group))
	}
	c.memory.Drop(&taken)
	c.store.sorter.Sort(r, sorted, c.layout.width(k))
}

// unsort moves all of a slot to its chain.
func (c *Circles) unsort(slot *level.Slot) {
	if slot.Run == nil {
		return
	}
	for _, x := range slot.Run.Items[slot.Run.At:] {
		slot.Span(x.Key)
		c.memory.Add(&slot.Chain, x.Entry)
	}
	c.store.keepRun(slot.Run)
	slot.Run = nil
}

// read adds the valid entries of group to r. group has at most readTogether entries. Entries that are not due between
// start and end are linked anew.
func (c *Circles) read(r *level.Run, group []arena.Entry, start, end int64) {
	c.visited += len(group)
	var nodes [readTogether]arena.Node
	for i, e := range group {
		nodes[i] = *c.arena.At(e.Node)
	}
	for i, e := range group {
		n := &nodes[i]
		if n.Named(e.Stamp) && start <= n.Key && n.Key <= end {
			r.Items = append(r.Items, level.ItemOf(n, e))
		} else {
			c.drop(e)
		}
	}
}

// drop drops an entry that is stale, or whose node is not due in the slot of the entry. Such a node has moved later, or
// has got the stamp of a stale entry again. drop links it anew, and reports whether it has done so.
func (c *Circles) drop(e arena.Entry) (moved bool) {
	c.entries--
	n := c.arena.At(e.Node)
	if moved = n.Named(e.Stamp); moved {
		c.follow(e.Node, n)
	}
	return moved
}
