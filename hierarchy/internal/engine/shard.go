package engine

import (
	"github.com/epicycle-go/epicycle/hierarchy/internal/timers"
	"github.com/epicycle-go/epicycle/level/arena"
)

// Flags that determine how a timer fires. A plain timer has none of these.
const (
	// IsOwned: the timer is that of an Owned. The value is a method of the owner, which is asked before the timer fires.
	IsOwned arena.Flags = 1 << iota
	// KeepsPlace: the timer is that of an Owned that keeps its place under MaxPending until it is stopped.
	KeepsPlace
	// RunInWake: the callback, which must never block, runs in the goroutine that woke the wheel, whatever the
	// executor.
	RunInWake
	// CallOnStop: the callback is also called if the wheel stops first.
	CallOnStop
)

// batch is about the most entries that are visited under one hold of the lock. Visiting them takes tens of
// microseconds, and others may have to wait for the lock meanwhile.
const batch = 256

// Shard is a part of a wheel: timers under a lock.
//
// The fields that each call writes come first, in one cache line. When two processors use a shard, each line that one
// of them has written must be copied to the other. The size of a Shard is a multiple of the size of a line.
type Shard[T any] struct {
	Mu        mutex
	Timers    *timers.Timers[T] // guarded by Mu; nil while there is no timer yet
	Sequence  uint64            // guarded by Mu
	lookAt    uint64            // guarded by Mu; the order from which on the shard looks for crowds again
	notBefore atomicBound       // written with Mu held; Invariant: no timer is due before it, unless a slot is being cascaded
	Counts    Counts            // guarded by Mu

	Core     *Core[T]
	number   int32
	limited  bool // the wheel has MaxPending or MaxQueued
	Closed   bool // guarded by Mu, as all below
	onStop   int  // Invariant: the number of live timers with CallOnStop
	lateness Durations
	asked    asked[T] // of the owner of a timer that is being asked
	_        [16]byte
}

func (s *Shard[T]) lock() *mutex { return &s.Mu }

// admit takes a place for one more timer with the flags f, if place is true. It returns ErrClosed or ErrFull if s may not
// take the timer. Mu must be held.
func (s *Shard[T]) admit(f arena.Flags, place bool) error {
	s.Mu.assertHeld()
	switch {
	case s.Closed:
		return ErrClosed
	case s.limited && (f&RunInWake == 0 && s.Core.queueFull() || place && !s.Core.quota.acquire()):
		return ErrFull
	}
	return nil
}

// set makes a new timer, which was admitted. wakeBy is the time at which the wheel must be awake: the timer's deadline,
// or an earlier time if a crowd has grown. Mu must be held; unlockFor must follow.
func (s *Shard[T]) set(v T, now, deadline int64, f arena.Flags) (i uint32, generation uint64, wakeBy int64) {
	s.Mu.assertHeld()
	t := s.Timers
	if t == nil || f&CallOnStop != 0 {
		t = s.prepare(now, f)
	}
	generation = s.Core.mock.nextOrder(&s.Sequence)
	i = t.Add(now, deadline, generation, f)
	if t.Grown() {
		t.MakeRoom(i)
	}
	*t.Value(i) = v
	return i, generation, s.wakeFor(now, deadline, generation)
}

// prepare does the part of set that only few timers need.
func (s *Shard[T]) prepare(now int64, f arena.Flags) *timers.Timers[T] {
	if s.Timers == nil {
		s.Timers = timers.New[T](s.Core.layout, s.Core.Tuning, now)
		if s.Core.mock == nil {
			s.Timers.Fetch(s.Core.toucher(s.Timers))
		}
	}
	if f&CallOnStop != 0 {
		s.onStop++
	}
	return s.Timers
}

// move gives timer i a new deadline. wakeBy is as in set. Mu must be held; unlockFor must follow.
func (s *Shard[T]) move(i uint32, n *arena.Node, now, deadline int64) (wakeBy int64) {
	s.Mu.assertHeld()
	order := s.Core.mock.nextOrder(&s.Sequence)
	s.Timers.Move(i, n, now, deadline, order)
	return s.wakeFor(now, deadline, order)
}

// crowdEvery is the number of timers after which a shard looks for crowds. Timers that take no place on the wheel
// count, too. After these, the shard looks when the next timer is set or moved.
const crowdEvery = 2048

// wakeFor returns the time at which the wheel must be awake for a timer that was set or moved: its deadline, or an
// earlier time if a crowd has grown. Nothing else wakes a sleeping wheel to prepare a crowd.
func (s *Shard[T]) wakeFor(now, deadline int64, order uint64) int64 {
	if order >= s.lookAt {
		s.lookAt = order + crowdEvery
		if begin, ok := s.Timers.NextCrowd(now); ok {
			return min(deadline, begin)
		}
	}
	return deadline
}

// unlockFor ends every setting and moving of a timer: it unlocks Mu, which must be held, and makes the wheel wake up by
// wakeBy.
func (s *Shard[T]) unlockFor(wakeBy int64) {
	s.Mu.assertHeld()
	nearer := bound(wakeBy) < s.notBefore.load()
	if nearer {
		s.notBefore.store(bound(wakeBy))
	}
	s.Mu.Unlock()
	if nearer {
		s.Core.aim.offer(wakeBy)
	}
	s.Core.mock.noted()
}

// lookup returns the live node of that index and generation, or nil. Mu must be held.
func (s *Shard[T]) lookup(i uint32, generation uint64) *arena.Node {
	s.Mu.assertHeld()
	if s.Timers == nil {
		return nil
	}
	return s.Timers.Arena().Lookup(i, generation)
}

// discard ends a live timer. Mu must be held.
func (s *Shard[T]) discard(i uint32, n *arena.Node) {
	s.Mu.assertHeld()
	if f := n.Flags(); f != 0 || s.limited {
		if f&CallOnStop != 0 {
			s.onStop--
		}
		if f&KeepsPlace == 0 {
			s.Core.quota.release(1)
		}
	}
	t := s.Timers
	t.Clear(i)
	if released := t.Remove(i, n); released != arena.Nothing && t.Release(released) {
		s.vacate()
	}
}

// vacate releases everything that timers take. Mu must be held.
func (s *Shard[T]) vacate() {
	s.Mu.assertHeld()
	s.Counts.Cascaded += s.Timers.Cascaded()
	s.Timers = nil
}

// detach takes all timers out at once, whatever their number, and returns them. Mu must
// be held.
func (s *Shard[T]) detach() (t *timers.Timers[T], n int) {
	s.Mu.assertHeld()
	t, n = s.Timers, s.Timers.Len()
	if t != nil {
		s.vacate()
	}
	s.onStop = 0
	if s.Core.OnDetach != nil {
		s.Core.OnDetach(int(s.number))
	}
	s.notBefore.store(none)
	return t, n
}
