package hierarchy

import (
	"time"

	"github.com/epicycle-go/epicycle/level"
)

// take removes and returns the earliest timer if it is due, at until or before.
// It is not if ok is false: then more tells whether to ask again, since there
// was too much to do for one hold of the lock.
//
// The order of the timer must be below limit where its deadline is until.
func (s *shard[T]) take(now, until int64, limit uint64, budget int) (v T, f level.Flags, ok, more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timers == nil {
		s.notBefore.Store(never)
		return v, 0, false, false
	}
	i, at := s.timers.next(now, budget)
	if i == 0 && at == 0 {
		return v, 0, false, true
	}
	if i == 0 {
		s.notBefore.Store(at)
		return v, 0, false, false
	}
	n := s.timers.arena.At(i)
	if at > until || at == until && n.Order() >= limit {
		s.notBefore.Store(at)
		return v, 0, false, false
	}
	v, f = *s.timers.value(i), n.Flags()
	s.counts.fired++
	s.lateness.add(now - n.Key)
	if s.core.leaves != nil {
		s.core.leaves(int(s.number), i)
	}
	if f&flagStays != 0 {
		s.timers.unlink(n)
	} else {
		s.discard(i, n)
	}
	return v, f, true, false
}

// earliest is the exact deadline and the order of the earliest timer.
func (s *shard[T]) earliest() (deadline time.Duration, order uint64, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := uint32(0)
	if s.timers != nil {
		i = s.timers.circles.earliest()
	}
	if i == 0 {
		s.notBefore.Store(never)
		return 0, 0, false
	}
	n := s.timers.arena.At(i)
	s.notBefore.Store(n.Key)
	return time.Duration(n.Key), n.Order(), true
}
