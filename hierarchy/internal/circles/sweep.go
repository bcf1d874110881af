package circles

import (
	"math/bits"

	"github.com/epicycle-go/epicycle/level"
)

// cursor is the position of the search for stale entries.
type cursor struct {
	ring, slot, at int
	kept           int // index to which the next valid entry is moved
}

// sweep drops some of the stale entries when there are many, so that memory stays in proportion to the nodes. A call
// visits few entries: it reads up to readTogether entries from the cursor on, and moves the valid ones to the front of
// their bag, in place of stale ones.
func (c *Circles) sweep() {
	b := c.sweptBag()
	if b == nil {
		return
	}
	w := &c.swept
	group := b.From(w.at, readTogether)
	var counts [readTogether]bool
	for i, e := range group {
		counts[i&(readTogether-1)] = c.arena.At(e.Node).Named(e.Stamp)
	}
	for i := range group {
		e := &group[i]
		switch {
		case !counts[i&(readTogether-1)]:
			*e = level.Entry{}
		case w.kept < w.at && *b.At(w.kept) == (level.Entry{}):
			*b.At(w.kept), *e = *e, level.Entry{}
			w.kept++
		default: // no stale entry is at the index kept, or b has changed
			w.kept = w.at + 1
		}
		w.at++
	}
	if w.at >= b.Len() {
		c.cutStale(b)
	}
}

// cutStale drops the entries that the sweep has left at the end of b, the bag under the cursor. One call drops at most
// as many entries as a block has, and the next call continues.
func (c *Circles) cutStale(b *bag) {
	n := b.Len()
	for least := n - level.BlockLen; n > 0 && *b.At(n - 1) == (level.Entry{}); n-- {
		if n == least {
			c.swept.at = n - 1
			return
		}
		c.memory.Cut(&b.Chain, 1)
		c.entries--
	}
	if !b.holds() {
		c.empty(b)
		c.vacate(c.rings[c.swept.ring], c.swept.slot)
	}
}

// sweptBag returns the bag under the cursor, or nil if there is none.
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

// sweptIn returns the next bag of r that has entries for the cursor, or nil.
func (c *Circles) sweptIn(r *ring) *bag {
	w := &c.swept
	for w.slot < len(r.Slots) && r.Occupied>>uint(w.slot) != 0 {
		if skip := bits.TrailingZeros64(r.Occupied >> uint(w.slot)); skip > 0 {
			*w = cursor{ring: w.ring, slot: w.slot + skip}
		}
		b := r.Slots[w.slot]
		if w.at < b.Len() {
			return b
		}
		if b.run != nil {
			c.filter(b.run)
		}
		*w = cursor{ring: w.ring, slot: w.slot + 1}
	}
	return nil
}

// sweepSorted drops stale entries of the runs under the hand, and of the heap.
func (c *Circles) sweepSorted() {
	for left := c.running; left != 0; left &= left - 1 {
		c.filter(c.runs[bits.TrailingZeros32(left)])
	}
	before := len(c.passed)
	c.passed.keep(func(x item) bool { return c.arena.At(x.Node).Named(x.Stamp) })
	c.entries -= before - len(c.passed)
	c.visited += before
}

// filter drops the stale entries of r.
func (c *Circles) filter(r *run) {
	c.visited += r.len()
	kept := r.items[:0]
	for _, x := range r.items[r.at:] {
		if c.arena.At(x.Node).Named(x.Stamp) {
			kept = append(kept, x)
		}
	}
	c.entries -= r.len() - len(kept)
	r.items, r.at, r.fetched = kept, 0, 0
}
