package circles

// firstOf is the earliest item of slot s of r, which starts at start. If the slot is a crowd and budget
// is not Unlimited, it is a time before which none is, of no node. found is false if it has changed what
// there is.
func (c *Circles) firstOf(r *ring, s int, start int64, budget int) (first item, found bool) {
	for {
		b := r.Slots[s]
		switch {
		case b.finer == nil && b.run != nil && c.isLarge(b):
			c.unsort(b)
		case c.isInstant(b):
			return c.firstOfInstant(r, s, b)
		case !c.isCrowd(r.circle, b):
			return c.firstIn(r, s, b, start)
		case b.finer != nil && b.Len() == 0 && b.run == nil:
			if b.finer.Occupied == 0 {
				c.empty(b)
				c.vacate(r, s)
				return item{}, false
			}
			r, s = b.finer, b.finer.First()
			start = c.layout.SlotStart(r.circle, s, start)
		case budget != Unlimited:
			return item{key: max(start, b.least)}, true
		default:
			c.dealSlot(r, s, start, Unlimited)
		}
	}
}

// firstIn sorts b, which is slot s of r and no crowd, and returns its earliest item. found is false if the
// slot has changed, or holds nothing any more.
func (c *Circles) firstIn(r *ring, s int, b *bag, start int64) (first item, found bool) {
	c.sortSlot(r.circle, b, start)
	x, moved := c.headOf(b.run)
	switch {
	case moved:
	case x == nil:
		c.empty(b)
		c.vacate(r, s)
	default:
		return *x, true
	}
	return item{}, false
}

// firstOfInstant is firstIn for a slot that holds an instant. It drops a few entries that do not count at most.
func (c *Circles) firstOfInstant(r *ring, s int, b *bag) (first item, found bool) {
	moved := false
	for n := 0; n < readTogether && b.Len() > 0 && !moved; n++ {
		e := b.Front(1)[0]
		if n := c.arena.At(e.Node); n.Named(e.Stamp) && n.Key == b.least {
			return item{n.Key, n.Order(), e}, true
		}
		c.visited++
		c.memory.Take(&b.Chain, 1)
		moved = c.pass(e) // to this slot perhaps
	}
	if b.Len() == 0 {
		c.empty(b)
		c.vacate(r, s)
	}
	return item{}, false
}
