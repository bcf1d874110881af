package bags

import (
	"math"
	"math/bits"
)

// dealOpen deals what is left of the slots under the hand over the next finer circles, finest first,
// and returns what is left of the budget.
func (c *Circles) dealOpen(budget int) (left int) {
	for c.open != 0 && budget > 0 {
		k := bits.TrailingZeros32(c.open)
		if c.circle[k-1] == nil {
			c.circle[k-1] = c.newRing(k - 1)
		}
		start := c.layout.SlotStart(k, c.layout.SlotFor(k, c.hand), c.hand)
		budget = c.deal(&c.rest[k], c.circle[k-1], c.layout.SlotEnd(k, start), budget)
		c.noteRing(k - 1)
		if c.rest[k].len() == 0 {
			c.rest[k] = chain{}
			c.open &^= 1 << uint(k)
		}
	}
	return budget
}

// deal moves entries to the slots of a finer ring, about as many as the budget says, and returns what
// is left of it. What has moved past end is linked anew.
func (c *Circles) deal(from *chain, to *ring, end int64, budget int) (left int) {
	var keys [readTogether]int64
	for from.len() > 0 && budget > 0 {
		group := from.tail[len(from.tail)-min(len(from.tail), readTogether):]
		budget -= len(group)
		c.visited += len(group)
		c.readKeys(group, &keys)
		for i, e := range group {
			if key := keys[i]; key <= end && key != stale {
				s := c.layout.SlotFor(to.circle, key)
				c.push(to, s, &to.slots[s], e)
				c.dealt++
			} else {
				c.pass(e)
			}
		}
		c.store.cut(from, len(group))
	}
	return budget
}

// stale stands for the deadline of an entry that does not count. A timer may have it, too: deal looks again.
const stale = math.MaxInt64

// readKeys reads the deadlines of nodes.
func (c *Circles) readKeys(group []entry, keys *[readTogether]int64) {
	for i, e := range group {
		n := c.arena.At(e.node)
		key := n.Key
		if !n.named(e.stamp) {
			key = stale
		}
		keys[i&(readTogether-1)] = key
	}
}

// crowd is a slot that is to be dealt ahead: slot s of r, which starts at start.
type crowd struct {
	r            *ring
	s            int
	start, begin int64 // begin: when to begin with it
}

// nextCrowd is the crowd with which to begin first; r is nil if there is none.
func (c *Circles) nextCrowd() (first crowd) {
	for left := c.crowded; left != 0; left &= left - 1 {
		k := bits.TrailingZeros32(left)
		if c.circle[k].crowds == 0 {
			c.crowded &^= 1 << uint(k)
			continue
		}
		if x := c.crowdIn(c.circle[k], c.hand); x.r != nil && (first.r == nil || x.begin < first.begin) {
			first = x
		}
	}
	return first
}

// crowdIn is the first crowd in r, in the turn that holds the time at.
func (c *Circles) crowdIn(r *ring, at int64) crowd {
	for left := r.crowds; left != 0; left &= left - 1 {
		s := bits.TrailingZeros64(left)
		b := &r.slots[s]
		start := c.layout.SlotStart(r.circle, s, at)
		if n := b.chain.len(); n > 0 && c.isCrowd(r.circle, b) {
			return crowd{r, s, start, c.beginFor(r.circle, n, start)}
		}
		if b.finer != nil {
			if x := c.crowdIn(b.finer, start); x.r != nil {
				return x
			}
		}
	}
	return crowd{}
}

// beginFor is when to begin dealing n entries ahead whose slot of circle k starts then.
func (c *Circles) beginFor(k, n int, start int64) int64 {
	lead := int64(n) * c.tuning.LeadTime
	if c.tuning.WholeSlot {
		lead = max(lead, int64(c.layout.Width(k)))
	}
	return max(start, math.MinInt64+lead) - lead
}

// NextCrowd is when Next must be called to begin with dealing a crowd ahead, if there is one. Who sets
// many timers asks now and then: nothing else wakes a sleeping wheel before the first of them is due.
func (c *Circles) NextCrowd(now int64) (begin int64, found bool) {
	if c.crowded == 0 {
		return 0, false
	}
	x := c.nextCrowd()
	return max(x.begin, now), x.r != nil
}

// DealAhead deals crowds ahead that will soon be due. It goes through no more than about budget entries.
func (c *Circles) DealAhead(now int64, budget int) { c.dealAhead(now, budget) }

// dealAhead is DealAhead. It returns what is left of the budget, and when to begin with the next crowd.
func (c *Circles) dealAhead(now int64, budget int) (left int, begin int64) {
	for c.crowded != 0 {
		x := c.nextCrowd()
		if x.r == nil {
			break
		}
		if x.begin > now || budget <= 0 {
			return budget, x.begin
		}
		budget = c.dealSlot(x.r, x.s, x.start, budget)
	}
	return budget, math.MaxInt64
}

// dealSlot deals slot s of r, which starts at start, over finer slots of its own.
func (c *Circles) dealSlot(r *ring, s int, start int64, budget int) (left int) {
	b := &r.slots[s]
	c.unsort(b)
	if b.finer == nil {
		b.finer = c.newRing(r.circle - 1)
	}
	return c.deal(&b.chain, b.finer, c.layout.SlotEnd(r.circle, start), budget)
}
