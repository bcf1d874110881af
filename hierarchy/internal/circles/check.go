package circles

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/epicycle-go/epicycle/level"
	"github.com/epicycle-go/epicycle/level/arena"
)

// census is what a check has counted so far.
type census struct {
	c       *Circles
	entries int
	circles int
	named   map[uint32]int                       // by node: number of valid entries with a slot reached in time
	linked  [arena.Unlinked + 1][level.Slots]int // by circle and slot: number of nodes linked there
}

// Check returns the first broken invariant. It can't see whether the hand has gone back; its caller must check that.
func (c *Circles) Check() error {
	x := &census{c: c, named: make(map[uint32]int)}
	for k := range maxCircles {
		if err := x.circle(k); err != nil {
			return err
		}
	}
	if x.circles != len(c.all) {
		return fmt.Errorf("%d circles and sub-circles, not %d", x.circles, len(c.all))
	}
	if err := cmp.Or(x.ordered(&c.overdue), x.ordered(&c.instant)); err != nil {
		return err
	}
	if c.overdue.n > 0 && c.overdue.last().Key >= c.hand || c.instant.n > 0 && c.instant.first().Key != c.instant.last().Key {
		return fmt.Errorf("the hand is at %d: behind it %v, under it %v", c.hand, c.overdue, c.instant)
	}
	if x.entries != c.entries {
		return fmt.Errorf("%d entries, not %d", x.entries, c.entries)
	}
	return cmp.Or(x.nodes(), c.store.check(), c.arena.Check())
}

// Cascading reports whether a slot under the hand is being cascaded, for tests. Meanwhile, a timer may be due before the
// timer that Next has found.
func (c *Circles) Cascading() bool { return c.open != 0 }

// check returns the first broken invariant.
func (st *store) check() error {
	for _, r := range st.runs {
		if len(r.Items) > 0 || r.At > 0 {
			return fmt.Errorf("a spare run with %d items", len(r.Items))
		}
	}
	for _, x := range st.circles {
		if *x != (level.Circle{Number: x.Number, Width: x.Width, Index: x.Index}) {
			return fmt.Errorf("a spare circle, which was circle %d, is not empty", x.Number)
		}
	}
	for _, slot := range st.slots {
		if slot.Holds() {
			return fmt.Errorf("a spare slot that is not empty")
		}
	}
	return nil
}

// count counts an entry whose slot is reached at the time turn.
func (x *census) count(e arena.Entry, turn int64) {
	x.entries++
	if n := x.c.arena.At(e.Node); n.Named(e.Stamp) && turn <= n.Key {
		x.named[e.Node]++
	}
}

// chain checks c, whose entries are in a slot that is reached at the time turn.
func (x *census) chain(c *arena.Chain, turn int64) error {
	for i := range c.Len() {
		x.count(*c.At(i), turn)
	}
	return c.Check()
}

// run checks r, the sorted entries of a slot of circle k.
func (x *census) run(k int, r *level.Run) error {
	if r == nil {
		return nil
	}
	for _, y := range r.Items[r.At:] {
		x.count(y.Entry, math.MinInt64)
	}
	if !slices.IsSortedFunc(r.Items[r.At:], level.Compare) {
		return fmt.Errorf("circle %d: a run that is not in order", k)
	}
	if k > 0 && r.Len() > x.c.tuning.SortUpTo {
		return fmt.Errorf("circle %d: %d entries in a run", k, r.Len())
	}
	return nil
}

// ordered checks o, whose entries were all read.
func (x *census) ordered(o *ordered) error {
	var all []level.Item
	for b, block := range o.blocks {
		if b == 0 {
			block = block[o.at:]
		}
		if len(block) == 0 || len(block) > blockItems {
			return fmt.Errorf("a block of %d", len(block))
		}
		all = append(all, block...)
	}
	if len(all) != o.n || o.fetched > o.n || !slices.IsSortedFunc(all, level.Compare) {
		return fmt.Errorf("%d items, not %d, in order: %v", len(all), o.n, slices.IsSortedFunc(all, level.Compare))
	}
	for _, y := range all {
		x.count(y.Entry, math.MinInt64)
	}
	return nil
}

// circle checks everything that belongs to circle k.
func (x *census) circle(k int) error {
	c, bit := x.c, func(word uint32) bool { return word>>uint(k)&1 == 1 }
	rest := new(arena.Chain)
	if c.rest != nil {
		rest = &c.rest[k]
	}
	if err := cmp.Or(x.run(k, c.runs[k]), x.chain(rest, math.MinInt64)); err != nil {
		return err
	}
	if (rest.Len() > 0) != bit(c.open) {
		return fmt.Errorf("circle %d: open", k)
	}
	if (c.runs[k] != nil) != bit(c.running) || k == 0 && c.runs[k] != nil {
		return fmt.Errorf("circle %d: running", k)
	}
	circle := c.circle[k]
	if circle == nil {
		return nil
	}
	if (circle.Occupied != 0) != bit(c.occupied) || circle.Number != k {
		return fmt.Errorf("circle %d: occupied=%x", k, circle.Occupied)
	}
	if circle.Crowds != 0 && !bit(c.crowded) {
		return fmt.Errorf("circle %d: crowds=%x", k, circle.Crowds)
	}
	return x.onCircle(circle, c.hand)
}

// onCircle checks a circle, in the turn that holds the time at, and the sub-circles of its slots.
func (x *census) onCircle(circle *level.Circle, at int64) error {
	x.circles++
	if x.c.all[circle.Index] != circle {
		return fmt.Errorf("circle %d of all is another one", circle.Index)
	}
	for s, slot := range circle.Slots {
		if occupied := circle.Has(s); occupied != (slot != nil) || occupied && !slot.Holds() {
			return fmt.Errorf("circle %d slot %d: occupied=%v", circle.Number, s, occupied)
		}
		if slot == nil {
			continue
		}
		if err := x.slot(circle, slot, s, circle.Start(s, at)); err != nil {
			return fmt.Errorf("circle %d slot %d: %w", circle.Number, s, err)
		}
	}
	return nil
}

// slot checks slot s of a circle, which starts at start.
func (x *census) slot(circle *level.Circle, slot *level.Slot, s int, start int64) error {
	uncascaded := slot.Sub == nil && x.c.isCrowd(circle.Number, slot) || slot.Sub != nil && (slot.Len() > 0 || slot.Sub.Crowds != 0)
	if noted := circle.Crowds>>uint(s)&1 == 1; uncascaded && !noted || noted && circle.Number == 0 {
		return fmt.Errorf("a crowd of %d", slot.Len())
	}
	if slot.Len() > 0 && (slot.Least < start || slot.Least > slot.Most || slot.Most > circle.End(start)) {
		return fmt.Errorf("deadlines from %d to %d, and it starts at %d", slot.Least, slot.Most, start)
	}
	if err := cmp.Or(x.chain(&slot.Chain, max(start, slot.Least)), x.run(circle.Number, slot.Run)); err != nil || slot.Sub == nil {
		return err
	}
	if slot.Len() > 0 && slot.Sub.Occupied != 0 && slot.Sub.Slots[slot.Sub.First()].Least < slot.Least {
		return fmt.Errorf("something was cascaded that is earlier than %d", slot.Least)
	}
	if slot.Sub.Live != [level.Slots]int32{} || slot.Sub.Number != circle.Number-1 {
		return fmt.Errorf("a sub-circle like circle %d, or that counts nodes", slot.Sub.Number)
	}
	return x.onCircle(slot.Sub, start)
}

// nodes checks that for each linked node there is an entry whose slot is reached no later than the node is due. It also
// checks the counts of nodes.
func (x *census) nodes() (err error) {
	c := x.c
	c.arena.Each(func(i uint32, n *arena.Node) {
		if n.Linked() && x.named[i] == 0 {
			err = fmt.Errorf("node %d is named nowhere: circle %d slot %d key %d hand %d", i, n.Circle(), n.Slot(), n.Key, c.hand)
		}
		x.linked[n.Circle()][n.Slot()]++
	})
	if c.behind != x.linked[arena.Overdue][0] {
		err = fmt.Errorf("%d behind the hand, not %d", c.behind, x.linked[arena.Overdue][0])
	}
	for k := range maxCircles {
		circle := c.circle[k]
		for s := 0; circle != nil && s < level.Slots; s++ {
			if int(circle.Live[s]) != x.linked[k][s] {
				err = fmt.Errorf("circle %d slot %d: %d live, not %d", k, s, circle.Live[s], x.linked[k][s])
			}
		}
	}
	return err
}
