package circles

import (
	"math"

	"github.com/epicycle-go/epicycle/level"
)

// Earliest is the earliest timer, due or not, or 0 if there is none. It does not move the
// hand. It pours a crowd ahead of its time, or gathers or sorts it where that can't be done, so
// that the next call has little to do. Order must be kept.
func (c *Circles) Earliest() uint32 {
	c.pour(math.MaxInt)
	if c.next != nil {
		c.finishNext()
	}
	l, s := c.earliestSlot()
	for l != nil && c.gatherEarliest(l, s) {
		l, s = c.earliestSlot()
	}
	first, _, _, _ := c.firstGathered(math.MaxInt)
	if l != nil {
		if i := c.earliestIn(l, s); first == 0 || c.arena.At(i).Before(c.arena.At(first)) {
			first = i
		}
	}
	return first
}

// gatherEarliest gathers slot s of l if that is a crowd that could not be poured ahead: its time has
// passed, or what comes after it was poured ahead already. Were it sorted in its slot, the next
// timer that is set there would have it sorted again. Not on circle 0, where all have one
// deadline.
func (c *Circles) gatherEarliest(l *level.Level, s int) (done bool) {
	n := c.arena.At(l.Head(s))
	if !c.gathers || n.Circle() == 0 || !c.isCrowd(l, s) {
		return false
	}
	c.gatherSlot(n.Circle(), s, c.onAhead(n))
	return true
}

// earliestIn is the earliest timer in slot s of l. A slot of middling size is gone through,
// but not sorted: it is opened when its time comes.
func (c *Circles) earliestIn(l *level.Level, s int) (best uint32) {
	if n := l.Len(s); n <= c.tuning.SortUpTo || n >= c.tuning.PourAheadFrom {
		if !l.Sorted(s) {
			c.visited += n
		}
		l.Sort(&c.arena, s)
	}
	if l.Sorted(s) {
		return l.Head(s)
	}
	c.visited += l.Len(s)
	l.Each(&c.arena, s, func(i uint32, n *level.Node) {
		if best == 0 || n.Before(c.arena.At(best)) {
			best = i
		}
	})
	return best
}

// earliestSlot is the slot that holds the earliest timer, and the level it is on; nil if
// there is none.
func (c *Circles) earliestSlot() (l *level.Level, s int) {
	for c.Linked() {
		if c.aheadIsFirst() {
			if l := c.firstAhead(); l != nil {
				return l, l.First()
			}
			continue
		}
		k, s, start := c.first()
		busy := c.active>>uint(k)&1 != 0 // with a slot after this one
		if l := &c.circle[k]; k == 0 || start < c.hand || busy || !c.isCrowd(l, s) {
			return l, s
		}
		c.beginAhead(k)
	}
	return nil, 0
}

// firstAhead pours the first slot that is being poured ahead to the end, and returns the
// level that holds its earliest timers. If none is left, it retires it and returns nil.
func (c *Circles) firstAhead() *level.Level {
	k := c.nextAhead()
	a := c.ahead[k]
	for c.pourAhead(k, a, math.MaxInt); c.nestFirst(k); c.pourAhead(k, a, math.MaxInt) {
		k--
		a = c.ahead[k]
	}
	if a.Empty() {
		c.active &^= 1 << uint(k)
		return nil
	}
	return &a.Level
}

// nestFirst tells whether the first slot of ahead[k] is being poured ahead itself. If it is a
// crowd, it is from now on.
func (c *Circles) nestFirst(k int) bool {
	a := c.ahead[k]
	switch {
	case c.nestedIn(k):
		return !c.beforeNested(k)
	case k == 1 || c.active>>uint(k-1)&1 != 0 || a.Empty() || !c.isCrowd(&a.Level, a.First()):
		return false
	}
	c.begin(k-1, &a.Level, a.start, true)
	return true
}

// beforeNested tells whether ahead[k] holds something before the slot from which ahead[k-1]
// is poured, which is nested in it.
func (c *Circles) beforeNested(k int) bool {
	a := c.ahead[k]
	return !a.Empty() && c.layout.SlotStart(k-1, a.First(), a.start) < c.ahead[k-1].start
}
