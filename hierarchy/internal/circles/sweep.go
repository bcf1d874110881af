package circles

import (
	"math/bits"

	"github.com/epicycle-go/epicycle/level"
)

// cursor is the position of the search for stale entries: a ring, a slot, and an entry of its chain. After the last
// ring come the runs of the slots under the hand.
type cursor struct {
	ring, slot, at int
	kept           int // index to which the next valid entry is moved
}

// sweep drops some of the stale entries when there are many, so that memory stays in proportion to the nodes. A call
// visits few entries: it reads up to readTogether entries of a chain, or one run, from the cursor on. It passes a few
// slots that have neither.
func (c *Circles) sweep() {
	for range level.Slots {
		if c.sweepNext() {
			return
		}
	}
}

// sweepNext sweeps a part of the slot at the cursor, or moves the cursor on. It reports whether it has visited entries.
func (c *Circles) sweepNext() (visited bool) {
	w := &c.swept
	if k := w.ring - len(c.rings); k >= 0 {
		*w = cursor{ring: w.ring + 1}
		if k >= maxCircles {
			*w = cursor{}
			return false
		}
		return c.filter(c.runs[k])
	}
	left := c.rings[w.ring].Occupied >> uint(w.slot)
	if left == 0 {
		*w = cursor{ring: w.ring + 1}
		return false
	}
	if skip := bits.TrailingZeros64(left); skip > 0 {
		*w = cursor{ring: w.ring, slot: w.slot + skip}
	}
	b := c.rings[w.ring].Slots[w.slot]
	if w.at < b.Len() {
		c.sweepChain(b)
		return true
	}
	*w = cursor{ring: w.ring, slot: w.slot + 1}
	return c.filter(b.run)
}

// sweepChain reads up to readTogether entries of b, the bag under the cursor, and moves the valid ones to the front, in
// place of stale ones.
func (c *Circles) sweepChain(b *bag) {
	w := &c.swept
	group := b.From(w.at, readTogether)
	c.visited += len(group)
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
		c.visited++
	}
	if !b.holds() {
		c.empty(b)
		c.vacate(c.rings[c.swept.ring], c.swept.slot)
	}
}

// filter drops the stale entries of r, which is a run or nil, and reports whether it has visited any. A run is no
// crowd.
func (c *Circles) filter(r *run) (visited bool) {
	if r == nil || r.len() == 0 {
		return false
	}
	c.visited += r.len()
	kept := r.items[:0]
	for _, x := range r.items[r.at:] {
		if c.arena.At(x.Node).Named(x.Stamp) {
			kept = append(kept, x)
		}
	}
	c.entries -= r.len() - len(kept)
	r.items, r.at, r.fetched = kept, 0, 0
	return true
}
