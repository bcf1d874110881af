package circles

import (
	"math"
	"math/bits"

	"github.com/epicycle-go/epicycle/level"
	"github.com/epicycle-go/epicycle/level/arena"
)

// cascadeOpen cascades the remaining entries of the slots under the hand over finer circles, finest first, and reads
// those that remain on circle 0. It returns the remaining budget. If exact is set, cascadeOpen postpones nothing. Otherwise it
// postpones cascading while many are behind the hand and the first of them is due. It also postpones reading until the entries
// that were read before have fired.
func (c *Circles) cascadeOpen(now int64, budget int, exact bool) (left int) {
	late := !exact && c.overdue.n > c.tuning.SortUpTo && c.overdue.first().Key <= now
	for open := c.open; open != 0 && budget > 0; open &= open - 1 {
		switch k := bits.TrailingZeros32(open); {
		case k > 0 && late: // entries found now would be behind the hand, too
		case k > 0:
			start := c.layout.width(k).Start(c.layout.SlotFor(k, c.hand), c.hand)
			budget = c.cascade(k, start, &c.rest[k], nil, budget, !exact)
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
func (c *Circles) readInstant(from *arena.Chain, budget int) (left int) {
	r, add, inOrder := c.store.newRun(readTogether), c.instant.push, true
	if c.instant.n > 0 { // so many that they must not be sorted again
		add = c.instant.insert
	}
	for from.Len() > 0 && budget > 0 {
		group := from.From(0, min(readTogether, budget))
		budget -= len(group)
		r.Items = r.Items[:0]
		c.read(r, group, c.hand, c.hand) // a slot of circle 0 is a single instant
		c.memory.Take(from, len(group))
		for _, x := range r.Items {
			inOrder = add(x) && inOrder
		}
	}
	r.Items = r.Items[:0]
	c.store.keepRun(r)
	if !inOrder {
		c.instant.sort()
	}
	return budget
}

// cascade moves entries of a slot of circle k, which starts at start, to the slots of the sub-circle to. If to is nil, it
// moves the entries to where they belong relative to the hand. cascade stops when the budget is used up, and returns the
// remaining budget. Entries that are not due within the slot are linked anew. If bothEnds is set, cascade takes entries
// from both ends alternately, so that the timer that was set last need not be found last.
func (c *Circles) cascade(k int, start int64, from *arena.Chain, to *level.Circle, budget int, bothEnds bool) (left int) {
	end := c.layout.width(k).End(start)
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
				c.drop(e)
			case to != nil:
				c.push(to, to.Slot(key), key, e)
				c.cascaded++
			default:
				c.relink(key, e)
				c.cascaded++
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

// relink puts e, whose node has the deadline key, where it belongs relative to the hand.
func (c *Circles) relink(key int64, e arena.Entry) {
	if key < c.hand {
		c.overdue.insert(level.ItemOf(c.arena.At(e.Node), e))
		return
	}
	k := c.layout.CircleFor(key, c.hand)
	c.put(c.circleAt(k), c.layout.SlotFor(k, key), key, e)
}

// stale is what readKeys stores as the deadline of a stale entry. A timer may have this deadline, too, so cascade passes
// such entries to drop, which checks the stamp.
const stale = math.MaxInt64

// readKeys reads the deadlines of nodes.
func (c *Circles) readKeys(group []arena.Entry, keys *[readTogether]int64) {
	for i, e := range group {
		n := c.arena.At(e.Node)
		key := n.Key
		if !n.Named(e.Stamp) {
			key = stale
		}
		keys[i&(readTogether-1)] = key
	}
}

// crowd is a slot that is to be cascaded ahead: slot s of a circle, which starts at start.
type crowd struct {
	circle       *level.Circle
	s            int
	start, begin int64 // begin is the time at which to begin cascading the slot
}

// nextCrowd returns the crowd whose cascading must begin first. Its circle is nil if there is no crowd.
func (c *Circles) nextCrowd() (first crowd) {
	for left := c.crowded; left != 0; left &= left - 1 {
		k := bits.TrailingZeros32(left)
		if c.circle[k].Crowds == 0 {
			c.crowded &^= 1 << uint(k)
			continue
		}
		if x := c.crowdIn(c.circle[k], c.hand); x.circle != nil && (first.circle == nil || x.begin < first.begin) {
			first = x
		}
	}
	return first
}

// crowdIn returns the first crowd on a circle, in the turn that holds the time at. It looks at a slot that is no crowd only
// once: put and its kin note the slot again when it becomes one.
func (c *Circles) crowdIn(circle *level.Circle, at int64) crowd {
	for left := circle.Crowds; left != 0; left &= left - 1 {
		s := bits.TrailingZeros64(left)
		slot := circle.Slots[s]
		start := circle.Start(s, at)
		c.visited++
		switch n := slot.Len(); {
		case slot.Sub == nil && c.isCrowd(circle.Number, slot):
			return crowd{circle, s, start, c.beginFor(circle.Number, n, start)}
		case slot.Sub != nil && n > 0: // cascading this slot has begun
			return crowd{circle, s, start, math.MinInt64}
		case slot.Sub != nil:
			if x := c.crowdIn(slot.Sub, start); x.circle != nil {
				return x
			}
		}
		circle.Crowds &^= 1 << uint(s)
	}
	return crowd{}
}

// beginFor returns the time at which to begin cascading a crowd of n entries in a slot of circle k that starts at start.
func (c *Circles) beginFor(k, n int, start int64) int64 {
	lead := int64(n) * c.tuning.LeadTime
	if c.tuning.WholeSlot {
		lead = max(lead, int64(c.layout.Width(k)))
	}
	return max(start, math.MinInt64+lead) - lead
}

// NextCrowd returns the time at which Next must be called to begin cascading a crowd ahead, if there is a crowd. A caller
// that sets many timers should call NextCrowd now and then: nothing else wakes a sleeping wheel before the first of
// them is due.
func (c *Circles) NextCrowd(now int64) (begin int64, found bool) {
	if c.crowded == 0 {
		return 0, false
	}
	x := c.nextCrowd()
	return max(x.begin, now), x.circle != nil
}

// CascadeAhead cascades crowds ahead that will soon be due. It visits no more than about budget entries, and returns the
// remaining budget and the time at which to begin the next crowd.
func (c *Circles) CascadeAhead(now int64, budget int) (left int, begin int64) {
	for c.crowded != 0 {
		x := c.nextCrowd()
		if x.circle == nil {
			break
		}
		if x.begin > now || budget <= 0 {
			return budget, x.begin
		}
		budget = c.cascadeSlot(x.circle, x.s, x.start, budget)
	}
	return budget, math.MaxInt64
}

// cascadeSlot cascades slot s of a circle, which starts at start, over a sub-circle of its own.
func (c *Circles) cascadeSlot(circle *level.Circle, s int, start int64, budget int) (left int) {
	slot := circle.Slots[s]
	c.unsort(slot)
	if slot.Sub == nil {
		slot.Sub = c.newCircle(circle.Number - 1)
	}
	return c.cascade(circle.Number, start, &slot.Chain, slot.Sub, budget, false)
}
