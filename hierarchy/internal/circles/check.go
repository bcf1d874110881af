package circles

import (
	"fmt"
	"slices"

	"github.com/epicycle-go/epicycle/level"
)

// Check reports the first broken invariant, for tests. It walks all nodes.
func (c *Circles) Check() error {
	if err := c.arena.Check(); err != nil {
		return err
	}
	unlinked, gathered := 0, 0
	c.arena.Each(func(_ uint32, n *level.Node) {
		switch n.Circle() {
		case level.Unlinked:
			unlinked++
		case level.Gathered:
			gathered++
		}
	})
	if gathered != c.inQueues {
		return fmt.Errorf("%d nodes are gathered, not %d", gathered, c.inQueues)
	}
	if err := c.checkQueues(gathered); err != nil {
		return err
	}
	linked, err := c.checkCircles()
	if err != nil {
		return err
	}
	poured, err := c.checkAheads()
	if err != nil {
		return err
	}
	if linked+poured+gathered+unlinked != c.arena.Len() {
		return fmt.Errorf("%d on circles, %d poured ahead, %d gathered and %d in no slot are not %d",
			linked, poured, gathered, unlinked, c.arena.Len())
	}
	return nil
}

func (c *Circles) checkCircles() (linked int, err error) {
	for k := range c.layout.count {
		l := &c.circle[k]
		if err := l.Check(&c.arena); err != nil {
			return 0, fmt.Errorf("circle %d: %w", k, err)
		}
		if l.Empty() == (c.occupied>>uint(k)&1 == 1) {
			return 0, fmt.Errorf("circle %d: occupied is %b", k, c.occupied)
		}
		for s := range level.Slots {
			linked += l.Len(s)
			if err := c.checkSlot(k, s); err != nil {
				return 0, fmt.Errorf("circle %d, slot %d, hand %d: %w", k, s, c.hand, err)
			}
		}
	}
	return linked, nil
}

func (c *Circles) checkSlot(k, s int) (err error) {
	if c.circle[k].Len(s) == 0 {
		return nil
	}
	digit, open := c.layout.SlotFor(k, c.hand), c.open>>uint(k)&1 == 1
	behind := c.behind>>uint(k)&1 == 1
	if s < digit && !behind || s == digit && k > 0 && !open {
		return fmt.Errorf("the hand has passed it: %d, open %b, behind %b", digit, c.open, c.behind)
	}
	start := c.layout.SlotStart(k, s, c.hand)
	c.circle[k].Each(&c.arena, s, func(i uint32, n *level.Node) {
		if n.Circle() != k || c.onAhead(n) {
			err = fmt.Errorf("node %d believes it is on circle %d", i, n.Circle())
		}
		if n.Key < start {
			err = fmt.Errorf("node %d is due at %d, the slot starts at %d", i, n.Key, start)
		}
	})
	return err
}

func (c *Circles) checkAheads() (poured int, err error) {
	last := c.hand
	c.eachAhead(func(k int, a *ahead) bool {
		earliest, hand := last, c.hand
		if a.nested {
			if c.active>>uint(k+1)&1 == 0 {
				err = fmt.Errorf("ahead of circle %d is nested in none", k)
				return true
			}
			hand = c.ahead[k+1].start
			earliest = hand
		} else {
			last = a.start
		}
		if a.start < earliest || a.start != c.layout.SlotStart(k, a.slot, hand) || a.end != c.layout.SlotEnd(k, a.start) {
			err = fmt.Errorf("ahead of circle %d, slot %d: %d to %d, the hand or the one before at %d",
				k, a.slot, a.start, a.end, earliest)
		} else {
			err = c.checkAhead(k, a)
		}
		for s := range level.Slots {
			poured += a.Len(s)
		}
		return err != nil
	})
	return poured, err
}

func (c *Circles) checkAhead(k int, a *ahead) error {
	if err := a.Check(&c.arena); err != nil {
		return fmt.Errorf("ahead of circle %d: %w", k, err)
	}
	var err error
	for s := range level.Slots {
		a.Each(&c.arena, s, func(i uint32, n *level.Node) {
			if n.Circle() != k-1 || !c.onAhead(n) || n.Key < c.layout.SlotStart(k-1, s, a.start) {
				err = fmt.Errorf("ahead of circle %d, slot %d: node %d, due at %d, is on circle %d, poured ahead %v",
					k, s, i, n.Key, n.Circle(), c.onAhead(n))
			}
		})
	}
	return err
}

// checkQueues checks what was gathered, given the number of nodes.
func (c *Circles) checkQueues(gathered int) error {
	for k := range c.queues {
		last := uint32(0)
		for _, r := range c.queues[k].entries[c.queues[k].next:] {
			if !c.stillGathered(r) {
				continue
			}
			gathered--
			if last != 0 && c.comesBefore(r.index, last) {
				return fmt.Errorf("queue: node %d is out of order", r.index)
			}
			last = r.index
		}
	}
	if c.next != nil {
		for _, r := range slices.Concat(c.next.sort.from, c.next.head, c.next.all[min(c.next.tail, len(c.next.all)):]) {
			if c.stillGathered(r) {
				gathered--
			}
		}
	}
	if gathered != 0 {
		return fmt.Errorf("queue: %d nodes are missing", gathered)
	}
	return c.checkEntries()
}

// checkEntries checks that memory for what was gathered is in proportion to what still is. While
// most entries of a queue are swept out, more die, and those that are live are in two queues.
func (c *Circles) checkEntries() error {
	entries := 0
	if c.next != nil {
		entries = c.next.taken()
	}
	for _, p := range c.queues {
		entries += p.left()
		if p.next > c.tuning.DeadUpTo && p.next > 3*p.left() {
			return fmt.Errorf("queue: of %d entries, %d have had their turn", len(p.entries), p.next)
		}
	}
	if dead := entries - c.inQueues; entries != c.entries || dead > 2*c.inQueues+2*c.tuning.DeadUpTo+sweptPerGone {
		return fmt.Errorf("queue: %d of %d entries are dead, of %d as is believed", dead, entries, c.entries)
	}
	return nil
}

// comesBefore tells whether node i comes before node j, as far as order is kept.
func (c *Circles) comesBefore(i, j uint32) bool {
	n, m := c.arena.At(i), c.arena.At(j)
	return n.Key < m.Key || c.inOrder && n.Before(m)
}
