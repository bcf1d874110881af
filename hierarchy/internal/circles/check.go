package circles

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/epicycle-go/epicycle/level"
)

// census is what a check has counted so far.
type census struct {
	c       *Circles
	entries int
	rings   int
	named   map[uint32]int                       // by node: number of valid entries with a slot reached in time
	linked  [level.Unlinked + 1][level.Slots]int // by circle and slot: number of nodes linked there
}

// Check returns the first broken invariant. It can't see whether the hand has gone back; its caller must check that.
func (c *Circles) Check() error {
	x := &census{c: c, named: make(map[uint32]int)}
	for k := range maxCircles {
		if err := x.circle(k); err != nil {
			return err
		}
	}
	if x.rings != len(c.rings) {
		return fmt.Errorf("%d rings, not %d", x.rings, len(c.rings))
	}
	if err := cmp.Or(x.ordered(&c.passed), x.ordered(&c.instant)); err != nil {
		return err
	}
	if c.passed.n > 0 && c.passed.last().key >= c.hand || c.instant.n > 0 && c.instant.first().key != c.instant.last().key {
		return fmt.Errorf("the hand is at %d: behind it %v, under it %v", c.hand, c.passed, c.instant)
	}
	if x.entries != c.entries {
		return fmt.Errorf("%d entries, not %d", x.entries, c.entries)
	}
	return cmp.Or(x.nodes(), c.store.check(), c.arena.Check())
}

// Dealing reports whether a slot under the hand is being dealt, for tests. Meanwhile, a timer may be due before the
// timer that Next has found.
func (c *Circles) Dealing() bool { return c.open != 0 }

// check returns the first broken invariant.
func (st *store) check() error {
	for _, r := range st.runs {
		if len(r.items) > 0 || r.at > 0 {
			return fmt.Errorf("a spare run with %d items", len(r.items))
		}
	}
	for _, r := range st.rings {
		if r.Level != (level.Level[*bag]{}) || r.crowds != 0 || r.live != [level.Slots]int32{} {
			return fmt.Errorf("a spare ring of circle %d that is not empty", r.circle)
		}
	}
	n := 0
	for b := st.bags; b != nil; b = b.next {
		if n++; b.holds() {
			return fmt.Errorf("a spare bag that is not empty")
		}
	}
	if n != st.nBags {
		return fmt.Errorf("%d spare bags, not %d", n, st.nBags)
	}
	return nil
}

// count counts an entry whose slot is reached at the time turn.
func (x *census) count(e level.Entry, turn int64) {
	x.entries++
	if n := x.c.arena.At(e.Node); n.Named(e.Stamp) && turn <= n.Key {
		x.named[e.Node]++
	}
}

// chain checks c, whose entries are in a slot that is reached at the time turn.
func (x *census) chain(c *level.Chain, turn int64) error {
	for i := range c.Len() {
		x.count(*c.At(i), turn)
	}
	return c.Check()
}

// run checks r, the sorted entries of a slot of circle k.
func (x *census) run(k int, r *run) error {
	if r == nil {
		return nil
	}
	for _, y := range r.items[r.at:] {
		x.count(y.Entry, math.MinInt64)
	}
	if !slices.IsSortedFunc(r.items[r.at:], compare) {
		return fmt.Errorf("circle %d: a run that is not in order", k)
	}
	if k > 0 && r.len() > x.c.tuning.SortUpTo {
		return fmt.Errorf("circle %d: %d entries in a run", k, r.len())
	}
	return nil
}

// ordered checks o, whose entries were all read.
func (x *census) ordered(o *ordered) error {
	var all []item
	for b, block := range o.blocks {
		if b == 0 {
			block = block[o.at:]
		}
		if len(block) == 0 || len(block) > blockItems {
			return fmt.Errorf("a block of %d", len(block))
		}
		all = append(all, block...)
	}
	if len(all) != o.n || o.fetched > o.n || !slices.IsSortedFunc(all, compare) {
		return fmt.Errorf("%d items, not %d, in order: %v", len(all), o.n, slices.IsSortedFunc(all, compare))
	}
	for _, y := range all {
		x.count(y.Entry, math.MinInt64)
	}
	return nil
}

// circle checks everything that belongs to circle k.
func (x *census) circle(k int) error {
	c, bit := x.c, func(word uint32) bool { return word>>uint(k)&1 == 1 }
	rest := new(level.Chain)
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
	r := c.circle[k]
	if r == nil {
		return nil
	}
	if (r.Occupied != 0) != bit(c.occupied) || r.circle != k {
		return fmt.Errorf("circle %d: occupied=%x", k, r.Occupied)
	}
	if r.crowds != 0 && !bit(c.crowded) {
		return fmt.Errorf("circle %d: crowds=%x", k, r.crowds)
	}
	return x.ring(r, c.hand)
}

// ring checks r, in the turn that holds the time at, and the entries that were dealt ahead of its slots.
func (x *census) ring(r *ring, at int64) error {
	x.rings++
	if x.c.rings[r.number] != r {
		return fmt.Errorf("ring %d is not in the list", r.number)
	}
	for s, b := range r.Slots {
		if occupied := r.Occupied>>uint(s)&1 == 1; occupied != (b != nil) || occupied && !b.holds() {
			return fmt.Errorf("circle %d slot %d: occupied=%v", r.circle, s, occupied)
		}
		if b == nil {
			continue
		}
		if err := x.bag(r, b, s, x.c.layout.SlotStart(r.circle, s, at)); err != nil {
			return fmt.Errorf("circle %d slot %d: %w", r.circle, s, err)
		}
	}
	return nil
}

// bag checks b, which is slot s of r and starts at start.
func (x *census) bag(r *ring, b *bag, s int, start int64) error {
	undealt := b.finer == nil && x.c.isCrowd(r.circle, b) || b.finer != nil && (b.Len() > 0 || b.finer.crowds != 0)
	if noted := r.crowds>>uint(s)&1 == 1; undealt && !noted || noted && r.circle == 0 {
		return fmt.Errorf("a crowd of %d", b.Len())
	}
	if b.Len() > 0 && (b.least < start || b.least > b.most || b.most > x.c.layout.SlotEnd(r.circle, start)) {
		return fmt.Errorf("deadlines from %d to %d, and it starts at %d", b.least, b.most, start)
	}
	if err := cmp.Or(x.chain(&b.Chain, max(start, b.least)), x.run(r.circle, b.run)); err != nil || b.finer == nil {
		return err
	}
	if b.Len() > 0 && b.finer.Occupied != 0 && b.finer.Slots[b.finer.First()].least < b.least {
		return fmt.Errorf("something was dealt that is earlier than %d", b.least)
	}
	if b.finer.live != [level.Slots]int32{} || b.finer.circle != r.circle-1 {
		return fmt.Errorf("dealt over a ring of circle %d that counts nodes", b.finer.circle)
	}
	return x.ring(b.finer, start)
}

// nodes checks that for each linked node there is an entry whose slot is reached no later than the node is due. It also
// checks the counts of nodes.
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
