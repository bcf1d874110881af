package hierarchy

import (
	"github.com/epicycle-go/epicycle/hierarchy/internal/circles"
	"github.com/epicycle-go/epicycle/level"
)

// moment is a place in the order of firing: a deadline, and an order within it.
type moment struct {
	at    bound
	order uint64
}

// comesBefore tells whether a timer of that deadline and order comes before m.
func (m moment) comesBefore(n *level.Node) bool {
	at := bound(n.Key)
	return at < m.at || at == m.at && n.Order() < m.order
}

// popState says what popSome found.
type popState uint8

const (
	nothingDue popState = iota
	popped
	unfinished // there was too much to do for one hold of the lock: ask again
	postponed  // the owner of the timer has put it off
	apart      // popped, and to be called in the round itself
)

// popTogether is how many timers that are due are taken out under one hold of the lock, if
// the executor is Go or a Pool. It takes about a microsecond. Any other executor gets each
// callback at once, so that until then the timer can be stopped.
const popTogether = 16

// popSome takes timers out that are due and before that moment, as many as may be taken under one hold of
// the lock, and appends their values to due. If one is to be called apart, it is the last, and is returned
// instead.
func (s *shard[T]) popSome(now int64, before moment, due *[]T) (v T, state popState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	budget := s.core.budget
	for range s.core.together {
		var f level.Flags
		switch v, f, state = s.popNext(now, before, budget); {
		case state == unfinished && budget < s.core.budget: // it was not much
			return v, popped
		case state == nothingDue || state == unfinished:
			return v, state
		case state == popped && f&runInWake != 0:
			return v, apart
		case state == popped:
			*due = append(*due, v)
		}
		budget = s.core.budget / popTogether
	}
	return v, state
}

// popNext takes the earliest timer out if it is due and comes before that moment. mu must be held.
func (s *shard[T]) popNext(now int64, before moment, budget int) (v T, f level.Flags, state popState) {
	if s.timers == nil {
		s.notBefore.store(none)
		return v, 0, nothingDue
	}
	switch verdict := s.timers.Next(now, budget); verdict.State {
	case circles.AskAgain:
		return v, 0, unfinished
	case circles.Empty:
		s.notBefore.store(none)
		return v, 0, nothingDue
	case circles.NotBefore:
		s.notBefore.store(bound(verdict.At))
		return v, 0, nothingDue
	default:
		return s.pop(now, before, verdict.Node)
	}
}

// pop takes timer i out, which is due, if it comes before that moment. mu must be held.
func (s *shard[T]) pop(now int64, before moment, i uint32) (v T, f level.Flags, state popState) {
	n := s.timers.Arena().At(i)
	if !before.comesBefore(n) {
		s.notBefore.store(bound(n.Key))
		return v, 0, nothingDue
	}
	v, f = *s.timers.Value(i), n.Flags()
	if f&askFirst == askFirst {
		return s.popOwned(now, v, i, n)
	}
	if f&runInWake != 0 {
		s.core.waking = n.Key
	}
	s.countFired(now - n.Key)
	if s.core.onFire != nil {
		s.core.onFire(int(s.number), i)
	}
	if f&keepNode != 0 {
		s.timers.Unlink(n)
	} else {
		s.discard(i, n)
	}
	return v, f, popped
}
