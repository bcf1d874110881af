package bags

// Earliest is the earliest timer, due or not, or 0 if there is none. It does not move the hand. A crowd
// is dealt ahead, so that the next call has little to do.
func (c *Circles) Earliest() uint32 {
	for {
		c.dealOpen(Unlimited, true)
		x, sorted := c.head()
		if c.occupied == 0 {
			return x.node
		}
		k, s, start := c.first()
		if sorted && x.key < start {
			return x.node
		}
		if y, found := c.firstOf(c.circle[k], s, start, Unlimited); found {
			if sorted && x.before(y) {
				return x.node
			}
			return y.node
		}
	}
}

// firstOf is the earliest item of slot s of r, which starts at start. If the slot is a crowd and budget
// is not Unlimited, it is a time before which none is, of no node. found is false if it has changed what
// there is.
func (c *Circles) firstOf(r *ring, s int, start int64, budget int) (first item, found bool) {
	for {
		b := &r.slots[s]
		switch {
		case b.finer == nil && b.run != nil && c.isLarge(b):
			c.unsort(b)
		case c.isInstant(b):
			return c.firstOfInstant(r, s, b)
		case !c.isCrowd(r.circle, b):
			return c.firstIn(r, s, b, start)
		case b.finer != nil && b.chain.len() == 0 && b.run == nil:
			if b.finer.occupied == 0 {
				c.empty(b)
				c.vacate(r, s)
				return item{}, false
			}
			r, s = b.finer, b.finer.first()
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

// firstOfInstant is firstIn for a slot that holds an instant.
func (c *Circles) firstOfInstant(r *ring, s int, b *bag) (first item, found bool) {
	for b.chain.len() > 0 {
		e := b.chain.front(1)[0]
		n := c.arena.At(e.node)
		if n.named(e.stamp) && n.Key == b.least {
			return item{n.Key, n.Order(), e}, true
		}
		c.visited++
		c.store.take(&b.chain, 1)
		if c.pass(e) {
			return item{}, false // it may belong into this slot
		}
	}
	c.empty(b)
	c.vacate(r, s)
	return item{}, false
}
