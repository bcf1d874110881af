package bags

import (
	"fmt"

	"github.com/epicycle-go/epicycle/level"
)

// census is what a check has found so far.
type census struct {
	c       *Circles
	entries int
	named   map[uint32]int                 // how many entries count, by node
	linked  [Unlinked + 1][level.Slots]int // nodes, by circle and slot
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
		x.count(p.entry)
	}
	if x.entries != c.entries {
		return fmt.Errorf("%d entries, not %d", x.entries, c.entries)
	}
	return x.nodes()
}

// count counts an entry.
func (x *census) count(e entry) {
	x.entries++
	if n := x.c.arena.At(e.node); n.named(e.stamp) {
		x.named[e.node]++
	}
}

func (x *census) chain(c *chain) {
	for i := range c.len() {
		x.count(*c.at(i))
	}
}

func (x *census) run(r *run) {
	if r == nil {
		return
	}
	for _, y := range r.items[r.at:] {
		x.count(y.entry)
	}
}

// circle checks what belongs to circle k.
func (x *census) circle(k int) error {
	c := x.c
	x.run(c.runs[k])
	x.chain(&c.rest[k])
	if (c.rest[k].len() > 0) != (c.open>>uint(k)&1 == 1) {
		return fmt.Errorf("circle %d: open", k)
	}
	if (c.runs[k] != nil) != (c.running>>uint(k)&1 == 1) {
		return fmt.Errorf("circle %d: running", k)
	}
	r := c.circle[k]
	if r == nil {
		return nil
	}
	if (r.occupied != 0) != (c.occupied>>uint(k)&1 == 1) || r.circle != k {
		return fmt.Errorf("circle %d: occupied=%x", k, r.occupied)
	}
	return x.ring(r)
}

// ring checks r and what was dealt ahead of its slots.
func (x *census) ring(r *ring) error {
	if x.c.rings[r.number] != r {
		return fmt.Errorf("ring %d is not in the list", r.number)
	}
	for s := range r.slots {
		b := &r.slots[s]
		if b.holds() != (r.occupied>>uint(s)&1 == 1) {
			return fmt.Errorf("circle %d slot %d: occupied=%v, %d entries", r.circle, s, !b.holds(), b.chain.len())
		}
		if r.circle > 0 && b.chain.len() > x.c.tuning.SortUpTo && r.crowds>>uint(s)&1 == 0 {
			return fmt.Errorf("circle %d slot %d: a crowd of %d", r.circle, s, b.chain.len())
		}
		x.chain(&b.chain)
		x.run(b.run)
		if b.finer != nil {
			if err := x.ring(b.finer); err != nil {
				return err
			}
		}
	}
	return nil
}

// nodes checks that an entry names each node that is linked, and what counts nodes.
func (x *census) nodes() (err error) {
	c := x.c
	c.arena.Each(func(i uint32, n *Node) {
		if n.Linked() && x.named[i] == 0 {
			err = fmt.Errorf("node %d is named nowhere: circle %d slot %d key %d hand %d", i, n.circle(), n.slot(), n.Key, c.hand)
		}
		x.linked[n.circle()][n.slot()]++
	})
	if c.behind != x.linked[Passed][0] {
		err = fmt.Errorf("%d behind the hand, not %d", c.behind, x.linked[Passed][0])
	}
	for k := range maxCircles {
		r := c.circle[k]
		for s := 0; r != nil && s < level.Slots; s++ {
			if int(r.slots[s].live) != x.linked[k][s] {
				err = fmt.Errorf("circle %d slot %d: %d live, not %d", k, s, r.slots[s].live, x.linked[k][s])
			}
		}
	}
	return err
}
