package bags

import "math/bits"

// store is memory that slots no longer need, for others. The steady state allocates nothing.
type store struct {
	tails   [len(tailSizes)][][]entry
	runs    []*run
	rings   []*ring
	scratch []item // for sorting
}

const (
	spareTails = 16 // of each size
	spareRuns  = 4
	spareRings = 4
	// largestSpare is the capacity of the largest run that is kept.
	largestSpare = 1024
)

// newTail returns an empty tail of that size.
func (st *store) newTail(size int) (tail []entry) {
	spare := &st.tails[size]
	if last := len(*spare) - 1; last >= 0 {
		tail = (*spare)[last]
		*spare = (*spare)[:last]
		return tail
	}
	return make([]entry, 0, tailSizes[size])
}

func (st *store) keepTail(tail []entry) {
	for size := range st.tails {
		if cap(tail) == tailSizes[size] && len(st.tails[size]) < spareTails {
			st.tails[size] = append(st.tails[size], tail[:0])
		}
	}
}

func (st *store) keepChain(c *chain) {
	st.keepTail(c.tail)
	for _, b := range c.full[:min(len(c.full), spareTails)] {
		st.keepTail(b[:])
	}
	*c = chain{}
}

// grow makes room for one more entry in c.
func (st *store) grow(c *chain) {
	old := c.tail
	if len(old) == blockLen {
		c.full = append(c.full, (*block)(old))
		c.tail = st.newTail(len(tailSizes) - 1)
		return
	}
	size := 0
	for tailSizes[size] <= len(old) {
		size++
	}
	c.tail = append(st.newTail(size), old...)
	st.keepTail(old)
}

// add appends e to c.
func (st *store) add(c *chain, e entry) {
	if len(c.tail) == cap(c.tail) {
		st.grow(c)
	}
	c.tail = append(c.tail, e)
}

// take drops the first n entries of c, which front has returned.
func (st *store) take(c *chain, n int) {
	c.taken += n
	switch {
	case len(c.full) > 0 && c.taken == blockLen:
		st.keepTail(c.full[0][:])
		c.full[0] = nil
		c.full, c.taken = c.full[1:], 0
	case len(c.full) == 0 && c.taken == len(c.tail):
		c.tail, c.taken = c.tail[:0], 0
	}
}

// cut drops the last entry of c.
func (st *store) cut(c *chain) {
	c.tail = c.tail[:len(c.tail)-1]
	if last := len(c.full) - 1; len(c.tail) == 0 && last >= 0 {
		st.keepTail(c.tail)
		c.tail = c.full[last][:]
		c.full = c.full[:last]
	}
	if c.len() == 0 {
		c.tail, c.taken = c.tail[:0], 0
	}
}

// newRun returns an empty run, with room for n items if it is made.
func (st *store) newRun(n int) (r *run) {
	if last := len(st.runs) - 1; last >= 0 {
		r = st.runs[last]
		st.runs = st.runs[:last]
		return r
	}
	return &run{items: make([]item, 0, n)}
}

func (st *store) keepRun(r *run) {
	if cap(r.items) <= largestSpare && len(st.runs) < spareRuns {
		*r = run{items: r.items[:0]}
		st.runs = append(st.runs, r)
	}
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

// retire drops a ring and all that is in it.
func (c *Circles) retire(r *ring) {
	for left := r.occupied; left != 0; left &= left - 1 {
		c.empty(&r.slots[bits.TrailingZeros64(left)])
	}
	last := len(c.rings) - 1
	c.rings[r.number] = c.rings[last]
	c.rings[r.number].number = r.number
	c.rings[last] = nil
	c.rings = c.rings[:last]
	if len(c.store.rings) < spareRings {
		r.occupied, r.crowds = 0, 0
		c.store.rings = append(c.store.rings, r)
	}
}

// empty drops all that is in b, which keeps a small tail.
func (c *Circles) empty(b *bag) {
	c.entries -= b.chain.len()
	if cap(b.tail) > tailSizes[0] {
		c.store.keepChain(&b.chain)
	}
	b.tail, b.taken = b.tail[:0], 0
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
