package engine

import (
	"fmt"

	"github.com/epicycle-go/epicycle/level"
)

// Check reports the first broken invariant of a wheel. It is for tests.
func (c *Core[T]) Check() error {
	for _, s := range c.Shards {
		s.Mu.Lock()
		err := s.check()
		s.Mu.Unlock()
		if err != nil {
			return fmt.Errorf("shard %d: %w", s.number, err)
		}
	}
	return nil
}

func (s *Shard[T]) check() error {
	t := s.Timers
	if t == nil {
		return nil
	}
	if err := t.Check(); err != nil {
		return err
	}
	onStop, notBefore := 0, s.notBefore.load()
	var err error
	t.Arena().Each(func(i uint32, n *level.Node) {
		if n.Flags()&CallOnStop != 0 {
			onStop++
		}
		if n.Linked() && bound(n.Key) < notBefore {
			err = fmt.Errorf("timer %d is due at %d, before %d", i, n.Key, notBefore)
		}
	})
	if onStop != s.onStop {
		return fmt.Errorf("%d timers have a callback for when the wheel stops, but the shard counts %d", onStop, s.onStop)
	}
	return err
}
