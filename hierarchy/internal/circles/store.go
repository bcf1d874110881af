package circles

import (
	"slices"

	"github.com/epicycle-go/epicycle/level"
)

// bag is a slot: a chain of entries, and earlier entries that were sorted or dealt ahead.
type bag struct {
	level.Chain
	// Invariant: both are within the slot. No deadline of the chain or of finer is below least. No deadline of the
	// chain was above most when its entry was added.
	least, most int64
	finer       *ring // the entries that were dealt ahead, or nil
	run         *run  // the entries that were sorted ahead, or nil
	next        *bag  // the next bag in the list of spare bags
}

// holds reports whether anything is in b.
func (b *bag) holds() bool { return b.Len() > 0 || b.finer != nil || b.run != nil }

// span extends least and most to include key, the deadline of an entry that is about to be added.
func (b *bag) span(key int64) {
	if b.Len() == 0 {
		b.least, b.most = key, key
	}
	b.least, b.most = min(b.least, key), max(b.most, key)
}

// ring holds the slots of a circle, or the slots over which a slot of the next coarser circle was dealt ahead.
type ring struct {
	level.Level[*bag]                    // Invariant: slots that hold nothing are nil
	crowds            uint64             // Invariant: bit s is set if slot s is a crowd that is not dealt, or has such crowds in finer; 0 on circle 0
	live              [level.Slots]int32 // Invariant: number of nodes linked in each slot; 0 if dealt ahead
	circle            int
	number            int
}

// store holds runs, rings and bags that slots no longer need, to be reused: the steady state allocates nothing.
// Invariant: all of them are empty.
type store struct {
	runs    []*run
	rings   []*ring
	bags    *bag // Invariant: a list of length nBags
	nBags   int
	scratch []item // space for sorting
}

const (
	spareRuns  = 4
	spareRings = 4
	spareBags  = level.Slots
	// largestSpare is the capacity of the largest run that is kept.
	largestSpare = 1024
)

// newRun returns an empty run with room for n items.
func (st *store) newRun(n int) (r *run) {
	if last := len(st.runs) - 1; last >= 0 {
		r = st.runs[last]
		st.runs = st.runs[:last]
	} else {
		r = new(run)
	}
	r.items = slices.Grow(r.items, n)
	return r
}

func (st *store) keepRun(r *run) {
	if cap(r.items) <= largestSpare && len(st.runs) < spareRuns {
		*r = run{items: r.items[:0]}
		st.runs = append(st.runs, r)
	}
}

// ring returns the ring of circle k.
func (c *Circles) ring(k int) *ring {
	if c.circle[k] == nil {
		c.circle[k] = c.newRing(k)
	}
	return c.circle[k]
}

// newRing returns an empty ring of circle k.
func (c *Circles) newRing(k int) (r *ring) {
	if last := len(c.store.rings) - 1; last >= 0 {
		r = c.store.rings[last]
		c.store.rings = c.store.rings[:last]
	} else {
		r = new(ring)
	}
	r.circle, r.number = k, len(c.rings)
	c.rings = append(c.rings, r)
	return r
}

// bag returns slot s of r.
func (c *Circles) bag(r *ring, s int) *bag {
	if r.Slots[s] == nil {
		r.Slots[s] = c.store.newBag()
		r.Note(s)
	}
	return r.Slots[s]
}

// newBag returns an empty bag.
func (st *store) newBag() (b *bag) {
	if b = st.bags; b == nil {
		return new(bag)
	}
	st.bags, b.next = b.next, nil
	st.nBags--
	return b
}

// keepBag keeps b, which is empty, for reuse, unless there are enough spare bags.
func (st *store) keepBag(b *bag) {
	if st.nBags < spareBags {
		st.bags, b.next = b, st.bags
		st.nBags++
	}
}

// retire removes a ring that is empty.
func (c *Circles) retire(r *ring) {
	last := len(c.rings) - 1
	c.rings[r.number] = c.rings[last]
	c.rings[r.number].number = r.number
	c.rings[last] = nil
	c.rings = c.rings[:last]
	if len(c.store.rings) < spareRings {
		r.crowds = 0
		c.store.rings = append(c.store.rings, r)
	}
}

// trim drops memory that only large crowds need. There must be no timer.
func (c *Circles) trim() {
	c.memory.Trim()
	c.passed.trim()
	c.instant.trim()
}

// empty drops everything that is in b.
func (c *Circles) empty(b *bag) {
	c.entries -= b.Len()
	c.memory.Clear(&b.Chain)
	if b.run != nil {
		c.entries -= b.run.len()
		c.store.keepRun(b.run)
		b.run = nil
	}
	if b.finer != nil {
		c.retire(b.finer)
		b.finer = nil
	}
}
