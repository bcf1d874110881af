package circles

import (
	"math"
	"math/bits"

	"github.com/epicycle-go/epicycle/level"
)

// dealOpen deals the remaining entries of the slots under the hand over finer circles, finest first, and reads those
// that remain on circle 0. It returns the remaining budget. If exact is set, dealOpen postpones nothing. Otherwise it
// postpones dealing while many are behind the hand and the first of them is due. It also postpones reading until the entries
// that were read before have fired.
func (c *Circles) dealOpen(now int64, budget int, exact bool) (left int) {
	late := !exact && c.passed.n > c.tuning.SortUpTo && c.passed.first().key <= now
	for open := c.open; open != 0 && budget > 0; open &= open - 1 {
		switch k := bits.TrailingZeros32(open); {
		case k > 0 && late: // entries found now would be behind the hand, too
		case k > 0:
			start := c.layout.SlotStart(k, c.layout.SlotFor(k, c.hand), c.hand)
			budget = c.deal(k, start, &c.rest[k], nil, budget, !exact)
			c.closeRest(k)
		case exact || c.instant.n == 0:
			budget = c.readInstant(&c.rest[0], budget)
			c.closeRest(0)
		}
	}
	return budget
}

// closeRest closes the rest of circle k if no entry is left in it.
func (c *Circles) closeRest(k int) {
	if c.rest[k].Len() == 0 {
		c.memory.Drop(&c.rest[k])
		c.open &^= 1 << uint(k)
	}
}

// readInstant reads as many entries of the instant under the hand, which are in from, as the budget permits, and returns
// the remaining budget.
func (c *Circles) readInstant(from *level.Chain, budget int) (left int) {
	r, add, inOrder := c.store.newRun(readTogether), c.instant.push, true
	if c.instant.n > 0 { // so many that they must not be sorted again
		add = c.instant.insert
	}
	for from.Len() > 0 && budget > 0 {
		group := from.From(0, min(readTogether, budget))
		budget -= len(group)
		r.items = r.items[:0]
		c.read(r, group, c.hand, c.hand) // a slot of circle 0 is a single instant
		c.memory.Take(from, len(group))
		for _, x := range r.items {
			inOrder = add(x) && inOrder
		}
	}
	r.items = r.items[:0]
	c.store.keepRun(r)
	if !inOrder {
		c.instant.sort()
	}
	return budget
}

// deal moves entries of a slot of circle k, which starts at start, to the slots of the finer ring to. If to is nil, it
// moves the entries to where they belong relative to the hand. deal stops when the budget is used up, and returns the
// remaining budget. Entries that are not due within the slot are linked anew. If bothEnds is set, deal takes entries
// from both ends alternately, so that the timer that was set last need not be found last.
func (c *Circles) deal(k int, start int64, from *level.Chain, to *ring, budget int, bothEnds bool) (left int) {
	end := c.layout.SlotEnd(k, start)
	var keys [readTogether]int64
	for atEnd := false; from.Len() > 0 && budget > 0; atEnd = bothEnds && !atEnd {
		most := min(readTogether, budget)
		group := from.From(0, most)
		if atEnd {
			group = from.Back(most)
		}
		budget -= len(group)
		c.visited += len(group)
		c.readKeys(group, &keys)
		for i, e := range group {
			switch key := keys[i&(readTogether-1)]; {
			case key < start || key > end || key == stale:
				c.pass(e)
			case to != nil:
				c.push(to, c.layout.SlotFor(to.circle, key), key, e)
				c.dealt++
			default:
				c.place(key, e)
				c.dealt++
			}
		}
		if atEnd {
			c.memory.Cut(from, len(group))
		} else {
			c.memory.Take(from, len(group))
		}
	}
	return budget
}

// place puts e, whose node has the deadline key, where it belongs relative to the hand.
func (c *Circles) place(key int64, e level.Entry) {
	if key < c.hand {
		c.passed.insert(item{key, c.arena.At(e.Node).Order(), e})
		return
	}
	k := c.layout.CircleFor(key, c.hand)
	c.put(c.ring(k), c.layout.SlotFor(k, key), key, e)
}

// stale is what readKeys stores as the deadline of a stale entry. A timer may have this deadline, too, so deal passes
// such entries to pass, which checks the stamp.
const stale = math.MaxInt64

// readKeys reads the deadlines of nodes.
func (c *Circles) readKeys(group []level.Entry, keys *[readTogether]int64) {
	for i, e := range group {
		n := c.arena.At(e.Node)
		key := n.Key
		if !n.Named(e.Stamp) {
			key = stale
		}
		keys[i&(readTogether-1)] = key
	}
}

// crowd is a slot that is to be dealt ahead: slot s of r, which starts at start.
type crowd struct {
	r            *ring
	s            int
	start, begin int64 // begin is the time at which to begin dealing the slot
}

// nextCrowd returns the crowd whose dealing must begin first. Its r is nil if there is no crowd.
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

// crowdIn returns the first crowd in r, in the turn that holds the time at. It looks at a slot that is no crowd only
// once: put and its kin note the slot again when it becomes one.
func (c *Circles) crowdIn(r *ring, at int64) crowd {
	for left := r.crowds; left != 0; left &= left - 1 {
		s := bits.TrailingZeros64(left)
		b := r.Slots[s]
		start := c.layout.SlotStart(r.circle, s, at)
		c.visited++
		switch n := b.Len(); {
		case b.finer == nil && c.isCrowd(r.circle, b):
			return crowd{r, s, start, c.beginFor(r.circle, n, start)}
		case b.finer != nil && n > 0: // dealing this slot has begun
			return crowd{r, s, start, math.MinInt64}
		case b.finer != nil:
			if x := c.crowdIn(b.finer, start); x.r != nil {
				return x
			}
		}
		r.crowds &^= 1 << uint(s)
	}
	return crowd{}
}

// beginFor returns the time at which to begin dealing a crowd of n entries in a slot of circle k that starts at start.
func (c *Circles) beginFor(k, n int, start int64) int64 {
	lead := int64(n) * c.tuning.LeadTime
	if c.tuning.WholeSlot {
		lead = max(lead, int64(c.layout.Width(k)))
	}
	return max(start, math.MinInt64+lead) - lead
}

// NextCrowd returns the time at which Next must be called to begin dealing a crowd ahead, if there is a crowd. A caller
// that sets many timers should call NextCrowd now and then: nothing else wakes a sleeping wheel before the first of
// them is due.
func (c *Circles) NextCrowd(now int64) (begin int64, found bool) {
	if c.crowded == 0 {
		return 0, false
	}
	x := c.nextCrowd()
	return max(x.begin, now), x.r != nil
}

// DealAhead deals crowds ahead that will soon be due. It visits no more than about budget entries, and returns the
// remaining budget and the time at which to begin the next crowd.
func (c *Circles) DealAhead(now int64, budget int) (left int, begin int64) {
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
	b := r.Slots[s]
	c.unsort(b)
	if b.finer == nil {
		b.finer = c.newRing(r.circle - 1)
	}
	return c.deal(r.circle, start, &b.Chain, b.finer, budget, false)
}
