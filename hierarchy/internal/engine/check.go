package engine

import (
	"fmt"

	"github.com/epicycle-go/epicycle/level/arena"
)

// Check returns the first broken invariant of a wheel, for tests.
func (c *Core[T]) Check() error {
	if err := c.aim.check(); err != nil {
		return err
	}
	for _, s := range c.Shards {
		s.Mu.Lock()
		defer s.Mu.Unlock()
	}
	limited := int64(0)
	for _, s := range c.Shards {
		n, err := s.check()
		if err != nil {
			return fmt.Errorf("shard %d: %w", s.number, err)
		}
		limited += n
	}
	if used := c.quota.used.Load(); c.quota.limit == 0 && used != 0 || c.quota.limit != 0 && used < limited && !c.closed.Load() {
		return fmt.Errorf("%d places are taken, and %d timers have one", used, limited)
	}
	return nil
}

// check returns the first broken invariant of s, and how many timers have a place under MaxPending. Mu must be held.
func (s *Shard[T]) check() (limited int64, err error) {
	t := s.Timers
	if t == nil {
		return 0, nil
	}
	if err := t.Check(); err != nil {
		return 0, err
	}
	onStop, notBefore := 0, s.notBefore.load()
	t.Arena().Each(func(i uint32, n *arena.Node) {
		if n.Flags()&CallOnStop != 0 {
			onStop++
		}
		if n.Flags()&KeepsPlace == 0 {
			limited++
		}
		if n.Linked() && bound(n.Key) < notBefore && !t.Cascading() {
			err = fmt.Errorf("timer %d is due at %d, before %d", i, n.Key, notBefore)
		}
	})
	if onStop != s.onStop {
		return 0, fmt.Errorf("%d timers have a callback for when the wheel stops, but the shard counts %d", onStop, s.onStop)
	}
	return limited, err
}

// check returns the first broken invariant of a.
func (a *aim) check() error {
	a.lock()
	defer a.unlock()
	switch below := a.below.load(); {
	case a.closed:
	case a.awake && below != 0, !a.awake && !a.aimed && below != none, !a.awake && a.aimed && below != 0 && below != bound(a.at):
		return fmt.Errorf("below is %d: awake=%v, aimed=%v at %d", below, a.awake, a.aimed, a.at)
	}
	return nil
}
