package bags

// Earliest is the earliest timer, due or not, or 0 if there is none. It does not move the hand. A crowd
// is dealt ahead, so that the next call has little to do.
func (c *Circles) Earliest() uint32 {
	for {
		c.dealOpen(Unlimited)
		x, sorted := c.head()
		if c.occupied == 0 {
			return x.node
		}
		k, s, start := c.first()
		if sorted && x.key < start {
			return x.node
		}
		if y := c.earliestIn(c.circle[k], s, start); y != nil {
			if sorted && x.before(*y) {
				return x.node
			}
			return y.node
		}
	}
}

// earliestIn is the earliest item of slot s of r, which starts at start. It is nil if it has changed what
// there is.
func (c *Circles) earliestIn(r *ring, s int, start int64) *item {
	for {
		b := &r.slots[s]
		if !c.isCrowd(r.circle, b) {
			x, _ := c.firstIn(r, s, b, start)
			return x
		}
		c.dealSlot(r, s, start, Unlimited)
		if b.finer.occupied == 0 {
			c.empty(b)
			c.vacate(r, s)
			return nil
		}
		r, s = b.finer, b.finer.first()
		start = c.layout.SlotStart(r.circle, s, start)
	}
}

// firstIn sorts b, which is slot s of r and no crowd, and returns its earliest item. It is nil if the
// slot has changed, or holds nothing any more.
func (c *Circles) firstIn(r *ring, s int, b *bag, start int64) (x *item, moved bool) {
	c.sortSlot(r.circle, b, start)
	x, moved = c.headOf(b.run)
	switch {
	case moved:
		return nil, true
	case x == nil:
		c.empty(b)
		c.vacate(r, s)
	}
	return x, false
}
