package bags

import "fmt"

// check returns the first broken invariant.
func (c *Circles) Check() error {
	entries := 0
	live := make(map[[2]int]int)
	where := make(map[uint32]int)
	count := func(e entry) {
		entries++
		if n := c.arena.At(e.node); n.named(e.stamp) {
			where[e.node]++
		}
	}
	var walk func(r *ring) error
	walk = func(r *ring) error {
		if c.rings[r.number] != r {
			return fmt.Errorf("ring %d is not in the list", r.number)
		}
		for s := range r.slots {
			b := &r.slots[s]
			full := b.chain.len() > 0 || b.finer != nil || b.run != nil
			if full != (r.occupied>>uint(s)&1 == 1) {
				return fmt.Errorf("circle %d slot %d: occupied=%v, %d entries", r.circle, s, !full, b.chain.len())
			}
			for i := range b.chain.len() {
				count(*b.at(i))
			}
			if b.run != nil {
				for _, x := range b.run.items[b.run.at:] {
					count(x.entry)
				}
			}
			if b.finer != nil {
				if err := walk(b.finer); err != nil {
					return err
				}
			}
		}
		return nil
	}
	for k, r := range c.circle {
		if r == nil {
			continue
		}
		if (r.occupied != 0) != (c.occupied>>uint(k)&1 == 1) || r.circle != k {
			return fmt.Errorf("circle %d: occupied=%x", k, r.occupied)
		}
		if err := walk(r); err != nil {
			return err
		}
	}
	for k := range c.runs {
		if r := c.runs[k]; r != nil {
			for _, x := range r.items[r.at:] {
				count(x.entry)
			}
		}
		for i := range c.rest[k].len() {
			count(*c.rest[k].at(i))
		}
		if (c.rest[k].len() > 0) != (c.open>>uint(k)&1 == 1) {
			return fmt.Errorf("circle %d: open", k)
		}
	}
	for _, x := range c.passed {
		count(x.entry)
	}
	if entries != c.entries {
		return fmt.Errorf("%d entries, not %d", entries, c.entries)
	}
	var err error
	c.arena.Each(func(i uint32, n *Node) {
		if n.circle() != Unlinked && where[i] == 0 {
			err = fmt.Errorf("node %d is named nowhere: circle %d slot %d key %d hand %d hands slot %d", i, n.circle(), n.slot(), n.Key, c.hand, c.layout.SlotFor(n.circle(), c.hand))
		}
		live[[2]int{n.circle(), n.slot()}]++
	})
	for k := range c.circle {
		for s := range 64 {
			if c.InSlot(k, s) != live[[2]int{k, s}] {
				return fmt.Errorf("circle %d slot %d: %d live, not %d", k, s, c.InSlot(k, s), live[[2]int{k, s}])
			}
		}
	}
	return err
}
