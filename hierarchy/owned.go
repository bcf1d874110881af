package hierarchy

import "github.com/epicycle-go/epicycle/level"

// A FuncTimer and an Idle own their timer, and have a part in its firing: a FuncTimer
// counts the run, and an Idle that was touched puts the timer off. So such a timer has
// askFirst, and its value is a method of the owner. Its place under MaxPending is the
// owner's.

// answer is what the owner of a timer answers when it is asked.
type answer[T any] struct {
	run   *T    // what to call; nil: nothing yet
	later int64 // then ask again at that time, which is later than the deadline
	early bool  // set by the asker: the timer is not due yet, so run must stay nil
}

// popOwned asks the owner of timer i, which is due, and takes the timer out or puts it off.
// mu must be held.
func (s *shard[T]) popOwned(now int64, ask T, i uint32, n *level.Node) (v T, f level.Flags, state popState) {
	s.core.fire(ask) // which is our own code, and writes the answer
	a := s.answer
	s.answer = answer[T]{} // the owner may be garbage soon
	if a.run == nil {
		s.putOff(now, i, n, a.later)
		return v, 0, postponed
	}
	s.countFired(now - n.Key)
	s.endOwned(i, n)
	return *a.run, 0, popped
}

// putOffEarly asks the owner of timer i, which is not due yet, and puts the timer off if the
// owner says so. It is false if nothing has changed. mu must be held.
func (s *shard[T]) putOffEarly(now int64, i uint32) bool {
	n := s.timers.Arena().At(i)
	if n.Flags()&askFirst != askFirst {
		return false
	}
	s.answer.early = true
	s.core.fire(*s.timers.Value(i))
	later := s.answer.later
	s.answer = answer[T]{}
	if later <= n.Key {
		return false
	}
	s.putOff(now, i, n, later)
	return true
}

// putOff moves timer i to a later time. mu must be held.
func (s *shard[T]) putOff(now int64, i uint32, n *level.Node, later int64) {
	s.counts.moved++
	s.move(i, n, now, later)
}

// endOwned ends timer i, and gives its place back. mu must be held.
func (s *shard[T]) endOwned(i uint32, n *level.Node) {
	s.discard(i, n)
	s.core.quota.release(1)
}

// stopOwned stops a timer, unless it has ended. mu must be held.
func (s *shard[T]) stopOwned(i uint32, generation uint64) bool {
	n := s.lookup(i, generation)
	if n == nil {
		return false
	}
	s.endOwned(i, n)
	s.counts.stopped++
	return true
}
