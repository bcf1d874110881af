package circles

import (
	"math"

	"github.com/epicycle-go/epicycle/level"
)

// Earliest is the earliest timer, due or not, or 0 if there is none. Unlike Next it may
// walk a whole slot: it answers questions, and is not on the way to firing. Order must be
// kept.
func (c *Circles) Earliest() uint32 {
	for c.pour(math.MaxInt); c.occupied != 0; {
		k, s, start := c.first()
		l := &c.circle[k]
		if l.Len(s) <= c.tuning.SortUpTo {
			l.Sort(&c.arena, s)
		}
		if i := c.earliestIn(l, s, c.layout.slotEnd(k, start)); i != 0 {
			return i
		}
	}
	return 0
}

// earliestIn is the earliest timer of slot s, which ends at end, or 0 if all have moved
// later than that. Those that it comes across are linked where they belong.
func (c *Circles) earliestIn(l *level.Level, s int, end int64) (best uint32) {
	for l.Len(s) > 0 && l.Sorted(s) {
		i := l.Head(s)
		if n := c.arena.At(i); n.Key > end {
			c.relink(i, n)
			continue
		}
		return i
	}
	l.Each(&c.arena, s, func(i uint32, n *level.Node) {
		switch {
		case n.Key > end:
			c.relink(i, n)
		case best == 0 || n.Before(c.arena.At(best)):
			best = i
		}
	})
	return best
}
