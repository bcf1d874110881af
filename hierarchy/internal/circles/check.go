package circles

import (
	"fmt"
	"math"

	"github.com/epicycle-go/epicycle/level"
)

// census is what a check has found so far.
type census struct {
	c       *Circles
	entries int
	named   map[uint32]int                       // how many entries name it and have their turn in time, by node
	linked  [level.Unlinked + 1][level.Slots]int // nodes, by circle and slot
}

// Check returns the first broken invariant.
func (c *Circles) Check() error {
	x := &census{c: c, named: make(map[uint32]int)}
	for k := range maxCircles {
		if err := x.circle(k); err != nil {
			return err
		}
	}
	for _, p := range c.passed {
		x.count(p.Entry, math.MinInt64)
	}
	if x.entries != c.entries {
		return fmt.Errorf("%d entries, not %d", x.entries, c.entries)
	}
	return x.nodes()
}

// count counts an entry that has its turn at that time.
func (x *census) count(e level.Entry, turn int64) {
	x.entries++
	if n := x.c.arena.At(e.Node); n.Named(e.Stamp) && turn <= n.Key {
		x.named[e.Node]++
	}
}

func (x *census) chain(c *level.Chain, turn int64) {
	for i := range c.Len() {
		x.count(*c.At(i), turn)
	}
}

// run checks r, which was sorted of a slot of circle k.
func (x *census) run(k int, r *run) error {
	if r == nil {
		return nil
	}
	for _, y := range r.items[r.at:] {
		x.count(y.Entry, math.MinInt64)
	}
	if k > 0 && r.len() > x.c.tuning.SortUpTo {
		return fmt.Errorf("circle %d: %d entries in a run", k, r.len())
	}
	return nil
}

// circle checks what belongs to circle k.
func (x *census) circle(k int) error {
	c := x.c
	if err := x.run(k, c.runs[k]); err != nil {
		return err
	}
	x.chain(&c.rest[k], math.MinInt64)
	if (c.rest[k].Len() > 0) != (c.open>>uint(k)&1 == 1) {
		return fmt.Errorf("circle %d: open", k)
	}
	if (c.runs[k] != nil) != (c.running>>uint(k)&1 == 1) {
		return fmt.Errorf("circle %d: running", k)
	}
	r := c.circle[k]
	if r == nil {
		return nil
	}
	if (r.Occupied != 0) != (c.occupied>>uint(k)&1 == 1) || r.circle != k {
		return fmt.Errorf("circle %d: occupied=%x", k, r.Occupied)
	}
	return x.ring(r, c.hand)
}

// ring checks r, in the turn that holds the time at, and what was dealt ahead of its slots.
func (x *census) ring(r *ring, at int64) error {
	if x.c.rings[r.number] != r {
		return fmt.Errorf("ring %d is not in the list", r.number)
	}
	for s := range r.Slots {
		b := r.Slots[s]
		if occupied := r.Occupied>>uint(s)&1 == 1; occupied != (b != nil) || occupied && !b.holds() {
			return fmt.Errorf("circle %d slot %d: occupied=%v", r.circle, s, occupied)
		}
		if b == nil {
			continue
		}
		if r.circle > 0 && x.c.isLarge(b) && r.crowds>>uint(s)&1 == 0 {
			return fmt.Errorf("circle %d slot %d: a crowd of %d", r.circle, s, b.Len())
		}
		start := x.c.layout.SlotStart(r.circle, s, at)
		x.chain(&b.Chain, max(start, b.least))
		if err := x.run(r.circle, b.run); err != nil {
			return err
		}
		if b.finer != nil {
			if err := x.ring(b.finer, start); err != nil {
				return err
			}
		}
	}
	return nil
}

// nodes checks that an entry names each node that is linked, and has its turn before that is due. It checks
// also what counts nodes.
func (x *census) nodes() (err error) {
	c := x.c
	c.arena.Each(func(i uint32, n *level.Node) {
		if n.Linked() && x.named[i] == 0 {
			err = fmt.Errorf("node %d is named nowhere: circle %d slot %d key %d hand %d", i, n.Circle(), n.Slot(), n.Key, c.hand)
		}
		x.linked[n.Circle()][n.Slot()]++
	})
	if c.behind != x.linked[level.Passed][0] {
		err = fmt.Errorf("%d behind the hand, not %d", c.behind, x.linked[level.Passed][0])
	}
	for k := range maxCircles {
		r := c.circle[k]
		for s := 0; r != nil && s < level.Slots; s++ {
			if int(r.live[s]) != x.linked[k][s] {
				err = fmt.Errorf("circle %d slot %d: %d live, not %d", k, s, r.live[s], x.linked[k][s])
			}
		}
	}
	return err
}
