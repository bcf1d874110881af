package circles

import "github.com/epicycle-go/epicycle/level"

// openSlot moves the hand to slot s of circle k, which must be the first occupied slot. It sorts the slot, moves it to
// a finer circle, or opens it to be dealt. openSlot returns the number of entries that it has visited.
func (c *Circles) openSlot(k, s int, start int64) (cost int) {
	c.hand = max(c.hand, start)
	r := c.circle[k]
	b := r.Slots[s]
	cost = 1
	if b.finer != nil || c.isLarge(b) {
		c.unsort(b)
	}
	switch {
	case b.finer == nil && !c.isLarge(b):
		cost += b.Len()
		c.sortUnderHand(k, b, start)
	case b.finer == nil && k > 0 && c.isAtOneSlot(b):
		c.handDown(b)
	case b.Len() > 0:
		if c.rest == nil {
			c.rest = new([maxCircles]level.Chain)
		}
		c.rest[k] = b.Chain
		c.open |= 1 << uint(k)
	}
	b.Chain = level.Chain{}
	finer := b.finer
	b.finer = nil
	c.vacate(r, s)
	if finer != nil {
		cost += c.deliver(k-1, finer)
	}
	return cost
}

// isLarge reports whether b has too many entries to be sorted at once, including those that were already sorted.
func (c *Circles) isLarge(b *bag) bool {
	n := b.Len()
	if b.run != nil {
		n += b.run.len()
	}
	return n > c.tuning.SortUpTo
}

// isInstant reports whether b has many timers of one deadline. Such a slot is never dealt.
func (c *Circles) isInstant(b *bag) bool {
	return b.finer == nil && b.run == nil && b.least == b.most && c.isLarge(b)
}

// isCrowd reports whether b, a slot of circle k, is to be dealt rather than sorted.
func (c *Circles) isCrowd(k int, b *bag) bool {
	return k > 0 && (b.finer != nil || c.isLarge(b) && !c.isInstant(b))
}

// isAtOneSlot reports whether all of b, the slot under the hand, belongs in one slot of a finer circle.
func (c *Circles) isAtOneSlot(b *bag) bool {
	return b.least == b.most || c.layout.CircleFor(b.least, c.hand) > c.layout.CircleFor(b.least, b.most)
}

// sortUnderHand sorts b, the slot of circle k under the hand, so that it can fire.
func (c *Circles) sortUnderHand(k int, b *bag, start int64) {
	if k == 0 {
		c.unsort(b)
		c.readInstant(&b.Chain, Unlimited)
		c.memory.Drop(&b.Chain)
		return
	}
	c.sortSlot(k, b, start)
	if c.runs[k] == nil {
		c.runs[k] = b.run
	} else {
		c.runs[k].merge(b.run)
		c.store.keepRun(b.run)
	}
	c.running |= 1 << uint(k)
	b.run = nil
}

// handDown moves all of b, the slot under the hand, to the finer slot in which all of it belongs. All finer
// circles are empty.
func (c *Circles) handDown(b *bag) {
	k := c.layout.CircleFor(b.least, c.hand)
	r, s := c.ring(k), c.layout.SlotFor(k, b.least)
	to := c.bag(r, s)
	to.Chain, to.least, to.most = b.Chain, b.least, b.most
	if c.isCrowd(k, to) {
		c.noteCrowd(r, s)
	}
	c.noteRing(k)
}

// deliver puts dealt in the place of the ring of circle k, which must be empty. dealt is the ring over which the slot
// under the hand was dealt ahead.
func (c *Circles) deliver(k int, dealt *ring) (cost int) {
	if empty := c.circle[k]; empty != nil {
		c.retire(empty)
	}
	c.circle[k] = dealt
	c.noteRing(k)
	if s := c.layout.SlotFor(k, c.hand); dealt.Occupied>>uint(s)&1 == 1 {
		return c.openSlot(k, s, c.hand) // no other slot may come first
	}
	return 0
}

// noteRing records what circle k holds, after it was filled.
func (c *Circles) noteRing(k int) {
	if c.circle[k].Occupied != 0 {
		c.occupied |= 1 << uint(k)
	}
	if c.circle[k].crowds != 0 {
		c.crowded |= 1 << uint(k)
	}
}

// sortSlot moves all of b to its run. b is a slot of circle k, and starts at start.
func (c *Circles) sortSlot(k int, b *bag, start int64) {
	r := b.run
	if r == nil {
		r = c.store.newRun(b.Len())
		b.run = r
	}
	if b.Len() == 0 {
		return
	}
	sorted, end, taken := len(r.items), c.layout.SlotEnd(k, start), b.Chain
	b.Chain = level.Chain{}
	for taken.Len() > 0 {
		group := taken.From(0, readTogether)
		c.read(r, group, start, end)
		c.memory.Take(&taken, len(group))
	}
	c.memory.Drop(&taken)
	c.store.sort(r, sorted, c.layout.Width(k))
}

// unsort moves all of b to its chain.
func (c *Circles) unsort(b *bag) {
	if b.run == nil {
		return
	}
	for _, x := range b.run.items[b.run.at:] {
		b.span(x.key)
		c.memory.Add(&b.Chain, x.Entry)
	}
	c.store.keepRun(b.run)
	b.run = nil
}

// read adds the valid entries of group to r. group has at most readTogether entries. Entries that are not due between
// start and end are linked anew.
func (c *Circles) read(r *run, group []level.Entry, start, end int64) {
	c.visited += len(group)
	var nodes [readTogether]level.Node
	for i, e := range group {
		nodes[i] = *c.arena.At(e.Node)
	}
	for i, e := range group {
		n := &nodes[i]
		if n.Named(e.Stamp) && start <= n.Key && n.Key <= end {
			r.items = append(r.items, item{n.Key, n.Order(), e})
		} else {
			c.pass(e)
		}
	}
}

// pass drops an entry that is stale, or whose node is not due in the slot of the entry. Such a node has moved later, or
// has got the stamp of a stale entry again. pass links it anew, and reports whether it has done so.
func (c *Circles) pass(e level.Entry) (moved bool) {
	c.entries--
	n := c.arena.At(e.Node)
	if moved = n.Named(e.Stamp); moved {
		c.follow(e.Node, n)
	}
	return moved
}
