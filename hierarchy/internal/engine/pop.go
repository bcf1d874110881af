package engine

import (
	"github.com/epicycle-go/epicycle/hierarchy/internal/circles"
	"github.com/epicycle-go/epicycle/level/arena"
)

// moment is a position in the order of firing: a deadline, and an order within it.
type moment struct {
	at    bound
	order uint64
}

// comesBefore reports whether timer n comes before m in the order of firing.
func (m moment) comesBefore(n *arena.Node) bool {
	at := bound(n.Key)
	return at < m.at || at == m.at && n.Order() < m.order
}

// popTogether is the most due timers that are taken out under one hold of the lock, if the executor is Go or a Pool.
// Taking them out takes about a microsecond. For any other executor, each timer is taken out just before the executor
// gets its callback, so that the timer can be stopped until then.
const popTogether = 16

// popSome takes out timers that are due and come before the moment before, up to the limit for one hold of the lock. It
// appends their values to due. The state is Due if popSome has taken out a timer or put one off. It is AskAgain if
// there was too much to do before a due timer was found. Any other state means that no timer is due. If apart is true,
// v was taken out last and is not in due, because the round itself calls its callback.
func (s *Shard[T]) popSome(now int64, before moment, due *[]T) (v T, apart bool, state circles.State) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	budget := s.Core.budget
	for range s.Core.together {
		v, apart, state = s.popNext(now, before, budget, due)
		switch {
		case state == circles.AskAgain && budget < s.Core.budget: // only a further timer's small budget is used up
			return v, false, circles.Due
		case state != circles.Due || apart:
			return v, apart, state
		}
		budget = s.Core.budget / popTogether
	}
	return v, apart, state
}

// popNext is popSome for the earliest timer. Mu must be held.
func (s *Shard[T]) popNext(now int64, before moment, budget int, due *[]T) (v T, apart bool, state circles.State) {
	s.Mu.assertHeld()
	verdict := circles.Verdict{State: circles.Empty}
	if s.Timers != nil {
		verdict = s.Timers.Next(now, budget)
	}
	switch verdict.State {
	case circles.Empty:
		s.notBefore.store(none)
	case circles.NotBefore:
		s.notBefore.store(bound(verdict.At))
	case circles.Due:
		n := s.Timers.Arena().At(verdict.Node)
		if before.comesBefore(n) {
			v, apart = s.pop(now, verdict.Node, n, due)
			return v, apart, circles.Due
		}
		s.notBefore.store(bound(n.Key))
		return v, false, circles.NotBefore
	}
	return v, false, verdict.State
}

// pop takes out timer i, which is due, or puts it off if its owner wants that. Mu must be held.
func (s *Shard[T]) pop(now int64, i uint32, n *arena.Node, due *[]T) (v T, apart bool) {
	v, f, keep := *s.Timers.Value(i), n.Flags(), false
	if f&IsOwned != 0 {
		a := s.askOwner(v, asked[T]{deadline: n.Key, due: true})
		if a.run == nil {
			s.putOff(now, i, n, a.later)
			return v, false
		}
		v, keep = *a.run, a.keep
	}
	apart = f&RunInWake != 0
	if apart {
		s.Core.waking = n.Key
	} else {
		*due = append(*due, v)
	}
	s.countFired(now - n.Key)
	if keep {
		s.Timers.Unlink(n)
		return v, apart
	}
	if s.Core.OnFire != nil {
		s.Core.OnFire(int(s.number), i)
	}
	s.discard(i, n)
	return v, apart
}

// putOffEarly asks the owner of timer i, which is not due yet, and puts the timer off if the owner wants that. It reports
// whether the timer was put off. Mu must be held.
func (s *Shard[T]) putOffEarly(now int64, i uint32) bool {
	n := s.Timers.Arena().At(i)
	if n.Flags()&IsOwned == 0 {
		return false
	}
	a := s.askOwner(*s.Timers.Value(i), asked[T]{deadline: n.Key})
	if a.later <= n.Key {
		return false
	}
	s.putOff(now, i, n, a.later)
	return true
}

// putOff moves timer i to a later time. Mu must be held.
func (s *Shard[T]) putOff(now int64, i uint32, n *arena.Node, later int64) {
	s.Mu.assertHeld()
	s.Counts.Moved++
	s.move(i, n, now, later)
}

// Firing returns the deadline of the timer with RunInWake whose callback the round is calling. Only that callback may
// call Firing, before anything else. Such a callback is never given to an executor.
func (c *Core[T]) Firing() int64 { return c.waking }
