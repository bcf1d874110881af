package hierarchy

import (
	"fmt"

	"github.com/epicycle-go/epicycle/level"
)

// check reports the first broken invariant of a wheel.
func (c *core[T]) check() error {
	for _, s := range c.shards {
		s.mu.Lock()
		err := s.check()
		s.mu.Unlock()
		if err != nil {
			return fmt.Errorf("shard %d: %w", s.number, err)
		}
	}
	return nil
}

func (s *shard[T]) check() error {
	c := s.timers
	if c == nil {
		return nil
	}
	if err := c.check(); err != nil {
		return err
	}
	told, nearest := 0, s.notBefore.Load()
	var err error
	c.arena.Each(func(i uint32, n *level.Node) {
		if n.Flags()&flagTold != 0 {
			told++
		}
		if n.Circle() != level.Held && n.Key < nearest {
			err = fmt.Errorf("timer %d is due at %d, before nearest %d", i, n.Key, nearest)
		}
	})
	if told != s.told {
		return fmt.Errorf("%d timers to be told, not %d", told, s.told)
	}
	return err
}

func (c *circles) check() error {
	if err := c.arena.Check(); err != nil {
		return err
	}
	linked, held := 0, 0
	c.arena.Each(func(_ uint32, n *level.Node) {
		if n.Circle() == level.Held {
			held++
		}
	})
	for k := range c.levels {
		l := &c.circle[k]
		if err := l.Check(&c.arena); err != nil {
			return fmt.Errorf("circle %d: %w", k, err)
		}
		if l.Empty() == (c.occupied>>uint(k)&1 == 1) {
			return fmt.Errorf("circle %d: occupied is %b", k, c.occupied)
		}
		for s := range level.Slots {
			linked += l.Len(s)
			if err := c.checkSlot(k, s); err != nil {
				return fmt.Errorf("circle %d, slot %d, hand %d: %w", k, s, c.hand, err)
			}
		}
	}
	ahead, err := c.checkAhead()
	if err != nil {
		return err
	}
	if linked += ahead; linked+held != c.arena.Len() {
		return fmt.Errorf("%d linked and %d held, not %d", linked, held, c.arena.Len())
	}
	return nil
}

func (c *circles) checkSlot(k, s int) (err error) {
	if c.circle[k].Len(s) == 0 {
		return nil
	}
	digit, open := c.slotFor(k, c.hand), c.open>>uint(k)&1 == 1
	if s < digit || s == digit && k > 0 && !open {
		return fmt.Errorf("the hand has passed it: %d, open %b", digit, c.open)
	}
	start := c.slotStart(k, s, c.hand)
	c.circle[k].Each(&c.arena, s, func(i uint32, n *level.Node) {
		if n.Circle() != k || c.onAhead(n) {
			err = fmt.Errorf("timer %d believes it is on circle %d", i, n.Circle())
		}
		if late := n.Key < start; late && !(k == 0 && s == digit) {
			err = fmt.Errorf("timer %d is due at %d, the slot starts at %d", i, n.Key, start)
		}
	})
	return err
}

func (c *circles) checkAhead() (linked int, err error) {
	last := int64(0)
	c.each(func(k int, a *ahead) bool {
		if a.start < max(last, c.hand) || a.start != c.slotStart(k, a.slot, c.hand) || a.end != c.slotEnd(k, a.start) {
			err = fmt.Errorf("ahead of circle %d, slot %d: %d to %d, the hand %d, the one before at %d",
				k, a.slot, a.start, a.end, c.hand, last)
		}
		last = a.start
		if e := a.Check(&c.arena); e != nil {
			err = fmt.Errorf("ahead of circle %d: %w", k, e)
		}
		for s := range level.Slots {
			linked += a.Len(s)
			a.Each(&c.arena, s, func(i uint32, n *level.Node) {
				if n.Circle() != k-1 || !c.onAhead(n) || n.Key < c.slotStart(k-1, s, a.start) {
					err = fmt.Errorf("ahead of circle %d, slot %d: timer %d, due at %d, is on circle %d, ahead %v",
						k, s, i, n.Key, n.Circle(), c.onAhead(n))
				}
			})
		}
		return err != nil
	})
	return linked, err
}
