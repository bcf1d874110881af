package bags

// openSlot moves the hand to slot s of circle k, the first one. It sorts it, or opens it, to be dealt
// over the next finer circle. It returns how many entries it has gone through.
func (c *Circles) openSlot(k, s int, start int64) (cost int) {
	c.hand = max(c.hand, start)
	r := c.circle[k]
	b := &r.slots[s]
	cost = 1
	if b.finer != nil || c.isCrowd(k, b) {
		c.deliver(k, b)
	} else {
		cost += b.chain.len()
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
	c.vacate(r, s)
	return cost
}

// isCrowd reports whether b, a slot of circle k, is to be dealt, and not to be sorted.
func (c *Circles) isCrowd(k int, b *bag) bool {
	return k > 0 && (b.finer != nil || b.chain.len() > c.tuning.SortUpTo)
}

// deliver puts what was dealt of b, the slot of circle k under the hand, in the place of the next finer
// circle, which is empty. The rest is to be dealt there.
func (c *Circles) deliver(k int, b *bag) {
	c.unsort(b)
	if b.finer != nil {
		if empty := c.circle[k-1]; empty != nil {
			c.retire(empty)
		}
		c.circle[k-1] = b.finer
		b.finer = nil
		c.noteRing(k - 1)
	}
	if b.chain.len() > 0 {
		c.rest[k] = b.chain
		c.open |= 1 << uint(k)
	}
	b.chain = chain{}
}

// noteRing notes what circle k holds after it was filled.
func (c *Circles) noteRing(k int) {
	if c.circle[k].occupied != 0 {
		c.occupied |= 1 << uint(k)
	}
	if c.circle[k].crowds != 0 {
		c.crowded |= 1 << uint(k)
	}
}

// sortSlot has all of b in its run. b is a slot of circle k, and starts at start.
func (c *Circles) sortSlot(k int, b *bag, start int64) {
	r := b.run
	if r == nil {
		r = c.store.newRun(b.chain.len())
		b.run = r
	}
	if b.chain.len() == 0 {
		return
	}
	sorted, end, taken := len(r.items), c.layout.SlotEnd(k, start), b.chain
	b.chain = chain{}
	for _, full := range taken.full {
		c.read(r, full[:], end)
	}
	c.read(r, taken.tail, end)
	c.store.keepChain(&taken)
	r.sort(sorted)
}

// unsort has all of b in its chain.
func (c *Circles) unsort(b *bag) {
	if b.run == nil {
		return
	}
	for _, x := range b.run.items[b.run.at:] {
		c.store.add(&b.chain, x.entry)
	}
	c.store.keepRun(b.run)
	b.run = nil
}

// read adds what counts of entries to r. What has moved past end is linked anew.
func (c *Circles) read(r *run, entries []entry, end int64) {
	c.visited += len(entries)
	var nodes [readTogether]Node
	for len(entries) > 0 {
		group := entries[:min(readTogether, len(entries))]
		entries = entries[len(group):]
		for i, e := range group {
			nodes[i] = *c.arena.At(e.node)
		}
		for i, e := range group {
			n := &nodes[i]
			if n.named(e.stamp) && n.Key <= end {
				r.items = append(r.items, item{n.Key, n.Order(), e})
			} else {
				c.pass(e)
			}
		}
	}
}

// pass drops an entry that is stale, or whose node has moved later.
func (c *Circles) pass(e entry) {
	c.entries--
	if n := c.arena.At(e.node); n.named(e.stamp) {
		c.follow(e.node, n)
	}
}
