package circles

import (
	"slices"

	"github.com/epicycle-go/epicycle/level"
)

// store holds runs, circles and slots that are no longer needed, to be reused: the steady state allocates nothing.
// Invariant: all of them are empty.
type store struct {
	runs    []*level.Run
	circles []*level.Circle
	slots   []*level.Slot
	sorter  level.Sorter
}

const (
	spareRuns    = 4
	spareCircles = 4
	spareSlots   = level.Slots
)

// take takes the last element of spares, or makes one.
func take[T any](spares *[]*T) *T {
	last := len(*spares) - 1
	if last < 0 {
		return new(T)
	}
	x := (*spares)[last]
	*spares = (*spares)[:last]
	return x
}

// keep adds x to spares, unless there are enough.
func keep[T any](spares *[]*T, x *T, most int) {
	if len(*spares) < most {
		*spares = append(*spares, x)
	}
}

// newRun returns an empty run with room for n items.
func (st *store) newRun(n int) *level.Run {
	r := take(&st.runs)
	r.Items = slices.Grow(r.Items, n)
	return r
}

func (st *store) keepRun(r *level.Run) {
	*r = level.Run{Items: r.Items[:0]}
	keep(&st.runs, r, spareRuns)
}

// circleAt returns circle k of the wheel.
func (c *Circles) circleAt(k int) *level.Circle {
	if c.circle[k] == nil {
		c.circle[k] = c.newCircle(k)
	}
	return c.circle[k]
}

// newCircle returns an empty circle that is as wide as circle k.
func (c *Circles) newCircle(k int) *level.Circle {
	circle := take(&c.store.circles)
	circle.Number, circle.Width, circle.Index = k, c.layout.width(k), len(c.all)
	c.all = append(c.all, circle)
	return circle
}

// retire removes a circle that is empty.
func (c *Circles) retire(circle *level.Circle) {
	last := len(c.all) - 1
	c.all[circle.Index] = c.all[last]
	c.all[circle.Index].Index = circle.Index
	c.all[last] = nil
	c.all = c.all[:last]
	circle.Crowds = 0
	keep(&c.store.circles, circle, spareCircles)
}

// slot returns slot s of a circle.
func (c *Circles) slot(circle *level.Circle, s int) *level.Slot {
	if circle.Slots[s] == nil {
		circle.Put(s, take(&c.store.slots))
	}
	return circle.Slots[s]
}

// vacate takes slot s out of a circle. The slot must be empty.
func (c *Circles) vacate(circle *level.Circle, s int) {
	keep(&c.store.slots, circle.Vacate(s), spareSlots)
	if circle.Occupied == 0 && c.circle[circle.Number] == circle {
		c.occupied &^= 1 << uint(circle.Number)
	}
}

// empty drops everything that is in a slot.
func (c *Circles) empty(slot *level.Slot) {
	c.entries -= slot.Size()
	c.memory.Clear(&slot.Chain)
	if slot.Run != nil {
		c.store.keepRun(slot.Run)
		slot.Run = nil
	}
	if slot.Sub != nil {
		c.retire(slot.Sub)
		slot.Sub = nil
	}
}

// trim drops memory that only large crowds need. There must be no timer.
func (c *Circles) trim() {
	c.memory.Trim()
	c.overdue.trim()
	c.instant.trim()
}
