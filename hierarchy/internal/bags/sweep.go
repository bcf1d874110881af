package bags

import "math/bits"

// cursor is how far the search for stale entries has come.
type cursor struct{ ring, slot, at int }

// sweepIfNeeded drops some stale entries if there are many. So memory stays in proportion to the nodes,
// and no call goes through many entries.
func (c *Circles) sweepIfNeeded() {
	if c.entries <= 2*c.arena.Len()+sweepFrom {
		return
	}
	for range sweepEach {
		if b := c.sweptBag(); b != nil {
			c.sweepEntry(b)
		}
	}
}

// sweepEntry looks at the entry under the cursor, which is in b.
func (c *Circles) sweepEntry(b *bag) {
	e := b.at(c.swept.at)
	if c.arena.At(e.node).named(e.stamp) {
		c.swept.at++
		return
	}
	*e = b.tail[len(b.tail)-1]
	c.store.cut(&b.chain, 1)
	c.entries--
	if !b.holds() {
		c.empty(b)
		c.vacate(c.rings[c.swept.ring], c.swept.slot)
	}
}

// sweptBag is the bag under the cursor, or nil if there is none.
func (c *Circles) sweptBag() *bag {
	w := &c.swept
	for range len(c.rings) + 1 {
		if w.ring >= len(c.rings) {
			c.sweepSorted()
			*w = cursor{}
		}
		if w.ring < len(c.rings) {
			if b := c.sweptIn(c.rings[w.ring]); b != nil {
				return b
			}
		}
		*w = cursor{ring: w.ring + 1}
	}
	return nil
}

// sweptIn is the next bag of r that has entries for the cursor, or nil.
func (c *Circles) sweptIn(r *ring) *bag {
	w := &c.swept
	for w.slot < len(r.slots) && r.occupied>>uint(w.slot) != 0 {
		if skip := bits.TrailingZeros64(r.occupied >> uint(w.slot)); skip > 0 {
			w.slot, w.at = w.slot+skip, 0
		}
		b := &r.slots[w.slot]
		if w.at < b.chain.len() {
			return b
		}
		if b.run != nil {
			c.filter(b.run)
		}
		w.slot, w.at = w.slot+1, 0
	}
	return nil
}

// sweepSorted drops what is stale in the runs under the hand, and in the heap.
func (c *Circles) sweepSorted() {
	for left := c.running; left != 0; left &= left - 1 {
		c.filter(c.runs[bits.TrailingZeros32(left)])
	}
	before := len(c.passed)
	c.passed.keep(func(x item) bool { return c.arena.At(x.node).named(x.stamp) })
	c.entries -= before - len(c.passed)
	c.visited += before
}

// filter drops what is stale in r.
func (c *Circles) filter(r *run) {
	c.visited += r.len()
	kept := r.items[:0]
	for _, x := range r.items[r.at:] {
		if c.arena.At(x.node).named(x.stamp) {
			kept = append(kept, x)
		}
	}
	c.entries -= r.len() - len(kept)
	r.items, r.at, r.fetched = kept, 0, 0
}
