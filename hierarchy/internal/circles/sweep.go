package circles

import (
	"math/bits"

	"github.com/epicycle-go/epicycle/level"
	"github.com/epicycle-go/epicycle/level/arena"
)

// cursor is the position of the search for stale entries: a circle or sub-circle, a slot, and an entry of its chain.
// After the last of all circles come the runs of the slots under the hand.
type cursor struct {
	circle, slot, at int
	kept             int // index to which the next valid entry is moved
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
	if k := w.circle - len(c.all); k >= 0 {
		*w = cursor{circle: w.circle + 1}
		if k >= maxCircles {
			*w = cursor{}
			return false
		}
		return c.filter(c.runs[k])
	}
	left := c.all[w.circle].Occupied >> uint(w.slot)
	if left == 0 {
		*w = cursor{circle: w.circle + 1}
		return false
	}
	if skip := bits.TrailingZeros64(left); skip > 0 {
		*w = cursor{circle: w.circle, slot: w.slot + skip}
	}
	slot := c.all[w.circle].Slots[w.slot]
	if w.at < slot.Len() {
		c.sweepChain(slot)
		return true
	}
	*w = cursor{circle: w.circle, slot: w.slot + 1}
	return c.filter(slot.Run)
}

// sweepChain reads up to readTogether entries of the slot under the cursor, and moves the valid ones to the front, in
// place of stale ones.
func (c *Circles) sweepChain(slot *level.Slot) {
	w := &c.swept
	group := slot.From(w.at, readTogether)
	c.visited += len(group)
	var counts [readTogether]bool
	for i, e := range group {
		counts[i&(readTogether-1)] = c.arena.At(e.Node).Named(e.Stamp)
	}
	for i := range group {
		e := &group[i]
		switch {
		case !counts[i&(readTogether-1)]:
			*e = arena.Entry{}
		case w.kept < w.at && *slot.At(w.kept) == (arena.Entry{}):
			*slot.At(w.kept), *e = *e, arena.Entry{}
			w.kept++
		default: // no stale entry is at the index kept, or slot has changed
			w.kept = w.at + 1
		}
		w.at++
	}
	if w.at >= slot.Len() {
		c.cutStale(slot)
	}
}

// cutStale drops the entries that the sweep has left at the end of the slot under the cursor. One call drops at most
// as many entries as a block has, and the next call continues.
func (c *Circles) cutStale(slot *level.Slot) {
	n := slot.Len()
	for least := n - arena.BlockLen; n > 0 && *slot.At(n - 1) == (arena.Entry{}); n-- {
		if n == least {
			c.swept.at = n - 1
			return
		}
		c.memory.Cut(&slot.Chain, 1)
		c.entries--
		c.visited++
	}
	if !slot.Holds() {
		c.empty(slot)
		c.vacate(c.all[c.swept.circle], c.swept.slot)
	}
}

// filter drops the stale entries of r, which is a run or nil, and reports whether it has visited any. A run is no
// crowd.
func (c *Circles) filter(r *level.Run) (visited bool) {
	if r == nil || r.Len() == 0 {
		return false
	}
	c.visited += r.Len()
	kept := r.Items[:0]
	for _, x := range r.Items[r.At:] {
		if c.arena.At(x.Node).Named(x.Stamp) {
			kept = append(kept, x)
		}
	}
	c.entries -= r.Len() - len(kept)
	r.Items, r.At, r.Fetched = kept, 0, 0
	return true
}
