package hierarchy

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/level"
)

// How a timer fires, beside its callback. A plain timer has none of these.
const (
	flagStays  level.Flags = 1 << iota // stays alive, held, when it fires: a repeater
	flagTenant                         // its place under MaxPending belongs to its maker, and is not given back
	flagDirect                         // runs where the wheel was woken, whatever the executor: never blocks
	flagTold                           // is also called when the wheel stops
)

// budget is how many nodes are touched under one hold of the lock, about: some
// ten microseconds' worth. It is what anybody may have to wait for.
const budget = 256

// shard is a part of a wheel with its own lock: circles, and the counters of
// what happened to the timers on them.
//
// What each call writes comes first, in one cache line: where two processors use
// a shard, each line of it has to travel. The size is a multiple of a line's.
type shard[T any] struct {
	mu        sync.Mutex
	timers    *timers[T]   // guarded by mu; nil while there is no timer yet
	sequence  uint64       // guarded by mu
	notBefore atomic.Int64 // written with mu held; Invariant: no timer is due before it
	counts    counts       // guarded by mu

	core     *core[T]
	number   int32
	limited  bool // the wheel has MaxPending
	closed   bool // guarded by mu, as all below
	told     int  // live timers with flagTold
	lateness histogram
	_        [56]byte
}

// insert sets a new timer. soonest is when the wheel must be awake for it: at its
// deadline, or before, if a crowd has grown. mu must be held.
func (s *shard[T]) insert(v T, now, deadline int64, f level.Flags) (i uint32, generation uint64, soonest int64) {
	t := s.timers
	if t == nil || f&flagTold != 0 {
		t = s.prepare(now, f)
	}
	generation = s.next()
	i = t.circles.add(now, deadline, generation, f)
	if t.shape != t.arena.Shape() {
		t.makeRoom(i)
		deadline = min(deadline, t.wakeForCrowd(now))
	}
	*t.value(i) = v
	return i, generation, deadline
}

// prepare does what few timers need before they are set.
func (s *shard[T]) prepare(now int64, f level.Flags) *timers[T] {
	if s.timers == nil {
		s.timers = &timers[T]{
			circles: circles{layout: s.core.layout, hand: now, ordered: s.core.mock != nil},
			values:  newStore[T](),
		}
	}
	if f&flagTold != 0 {
		s.told++
	}
	return s.timers
}

// next is a new sequence number. On a mock it is one for all its wheels.
func (s *shard[T]) next() uint64 {
	if s.core.mock != nil {
		return s.core.mock.NextOrder()
	}
	s.sequence++
	return s.sequence
}

// lower notes a deadline in notBefore, and tells whether the wheel may have to be
// aimed at it. mu must be held.
func (s *shard[T]) lower(deadline int64) bool {
	if deadline >= s.notBefore.Load() && deadline != never {
		return false
	}
	s.notBefore.Store(min(deadline, s.notBefore.Load()))
	return true
}

// lookup is the live node of that index and generation, or nil. mu must be held.
func (s *shard[T]) lookup(i uint32, generation uint64) *level.Node {
	if s.timers == nil {
		return nil
	}
	return s.timers.arena.Lookup(i, generation)
}

// discard ends a live node. mu must be held.
func (s *shard[T]) discard(i uint32, n *level.Node) {
	if f := n.Flags(); f != 0 || s.limited {
		s.forget(f)
	}
	t := s.timers
	var none T
	*t.value(i) = none
	switch given := t.circles.remove(i, n); given {
	case 0:
	case level.Deserted:
		s.vacate()
	default:
		t.values.drop(given - 1)
	}
}

// vacate gives back all that timers take. mu must be held.
func (s *shard[T]) vacate() {
	s.counts.cascaded += s.timers.cascaded
	s.timers = nil
}

// forget takes a timer of these flags out of the books. mu must be held.
func (s *shard[T]) forget(f level.Flags) {
	if f&flagTold != 0 {
		s.told--
	}
	if f&flagTenant == 0 {
		s.core.places.release(1)
	}
}

// stop is Timer.Stop.
func (s *shard[T]) stop(i uint32, generation uint64) bool {
	s.mu.Lock()
	n := s.lookup(i, generation)
	if n == nil {
		s.mu.Unlock()
		return false
	}
	s.discard(i, n)
	s.counts.stopped++
	s.mu.Unlock()
	return true
}

// reset is Timer.Reset.
func (s *shard[T]) reset(i uint32, generation uint64, d time.Duration) bool {
	now := s.core.now()
	s.mu.Lock()
	n := s.lookup(i, generation)
	if n == nil {
		s.mu.Unlock()
		return false
	}
	s.counts.moved++
	s.moveUnlock(i, n, now, deadlineAfter(now, d))
	return true
}

// rearm is Timer.rearm.
func (s *shard[T]) rearm(i uint32, generation uint64, now, deadline int64, held bool) bool {
	s.mu.Lock()
	n := s.lookup(i, generation)
	if n == nil || n.Circle() == level.Held && !held {
		s.mu.Unlock()
		return n != nil
	}
	s.moveUnlock(i, n, now, deadline)
	return true
}

// moveUnlock gives node i a new deadline and unlocks mu, which must be held.
func (s *shard[T]) moveUnlock(i uint32, n *level.Node, now, deadline int64) {
	s.timers.move(i, n, now, deadline, s.next())
	earlier := s.lower(deadline)
	s.mu.Unlock()
	if earlier || s.core.mock != nil {
		s.core.announce(earlier, deadline)
	}
}

// remaining is Timer.Remaining.
func (s *shard[T]) remaining(i uint32, generation uint64) (time.Duration, bool) {
	now := s.core.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.lookup(i, generation)
	if n == nil || n.Circle() == level.Held {
		return 0, false
	}
	return time.Duration(max(0, n.Key-now)), true
}

// pending tells whether any timer waits for its deadline.
func (s *shard[T]) pending() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.timers != nil && s.timers.pending()
}

// detach takes all timers out at once, whatever their number, and returns them.
// mu must be held.
func (s *shard[T]) detach() (t *timers[T], n int) {
	t, n = s.timers, s.timers.len()
	if t != nil {
		s.vacate()
	}
	s.told = 0
	if s.core.cleared != nil {
		s.core.cleared(int(s.number))
	}
	s.notBefore.Store(never)
	return t, n
}
