package hierarchy

import (
	"github.com/epicycle-go/epicycle/hierarchy/internal/timers"
	"github.com/epicycle-go/epicycle/level"
)

// How a timer fires, beside its callback. A plain timer has none of these.
const (
	// keepNode: the node stays alive when the timer fires, in no slot. A Repeater sets it
	// again, and its Timer still names it.
	keepNode level.Flags = 1 << iota
	// noQuota: the timer takes no place under MaxPending and gives none back. Its maker
	// has one.
	noQuota
	// runInWake: the callback runs in the goroutine that woke the wheel, whatever the
	// executor. It never blocks.
	runInWake
	// callOnStop: the callback is also called when the wheel stops first.
	callOnStop
	// askFirst: the value is called with the shard's lock held before the timer fires, and
	// answers; see owned.go. A node has no more than four flags, and no other has both of
	// these. As with noQuota, its maker has a place.
	askFirst = keepNode | noQuota
)

// batch is about how many nodes are touched under one hold of the lock. That takes tens of
// microseconds, which is how long others may have to wait for the lock.
const batch = 256

// shard is a part of a wheel: timers under a lock.
//
// What each call writes comes first, in one cache line. When two processors use a shard,
// each line that one of them has written must be copied to the other. The size is a
// multiple of a line's.
type shard[T any] struct {
	mu        mutex
	timers    *timers.Timers[T] // guarded by mu; nil while there is no timer yet
	sequence  uint64            // guarded by mu
	lookAt    uint64            // guarded by mu; the order from which on it looks for crowds again
	notBefore atomicBound       // written with mu held; Invariant: no timer is due before it
	counts    counts            // guarded by mu

	core     *core[T]
	number   int32
	limited  bool // the wheel has MaxPending
	closed   bool // guarded by mu, as all below
	onStop   int  // Invariant: how many live timers have callOnStop
	lateness histogram
	answer   answer[T] // of the timer that was asked
	_        [24]byte
}

func (s *shard[T]) lock() *mutex { return &s.mu }

// admit tells whether s may take one more timer, and takes a place for it. mu must be
// held.
func (s *shard[T]) admit(f level.Flags) error {
	if s.closed {
		return ErrClosed
	}
	if f&runInWake == 0 && s.core.queueFull() {
		return ErrFull
	}
	if f&noQuota == 0 && !s.core.quota.acquire() {
		return ErrFull
	}
	return nil
}

// set makes a new timer, which was admitted. wakeAt is when the wheel must be awake for
// it: at its deadline, or before, if a crowd has grown. mu must be held; unlock must
// follow.
func (s *shard[T]) set(v T, now, deadline int64, f level.Flags) (i uint32, generation uint64, wakeAt int64) {
	t := s.timers
	if t == nil || f&callOnStop != 0 {
		t = s.prepare(now, f)
	}
	generation = s.core.mock.nextOrder(&s.sequence)
	i = t.Add(now, deadline, generation, f)
	if t.Grown() {
		t.MakeRoom(i)
	}
	*t.Value(i) = v
	return i, generation, s.wakeFor(now, deadline, generation)
}

// prepare does what few timers need before they are set.
func (s *shard[T]) prepare(now int64, f level.Flags) *timers.Timers[T] {
	if s.timers == nil {
		s.timers = timers.New[T](s.core.layout, s.core.tuning, now)
		if s.core.mock == nil {
			s.timers.Fetch(s.core.toucher(s.timers))
		}
	}
	if f&callOnStop != 0 {
		s.onStop++
	}
	return s.timers
}

// move gives timer i a new deadline. wakeAt is when the wheel must be awake for it. mu must be
// held; unlock must follow.
func (s *shard[T]) move(i uint32, n *level.Node, now, deadline int64) (wakeAt int64) {
	order := s.core.mock.nextOrder(&s.sequence)
	s.timers.Move(i, n, now, deadline, order)
	return s.wakeFor(now, deadline, order)
}

// crowdEvery is after how many timers a shard looks for crowds. Some of them take no place on the
// wheel, so it looks when the next one is set or moved.
const crowdEvery = 2048

// wakeFor is when the wheel must be awake for a timer that was set or moved: at its deadline, or
// before, if a crowd has grown. Nothing else wakes a sleeping wheel to prepare one.
func (s *shard[T]) wakeFor(now, deadline int64, order uint64) int64 {
	if order >= s.lookAt {
		s.lookAt = order + crowdEvery
		if begin, ok := s.timers.NextCrowd(now); ok {
			return min(deadline, begin)
		}
	}
	return deadline
}

// unlock ends every setting and moving of a timer: it unlocks mu, which must be held, and
// has the wheel awake at that time.
func (s *shard[T]) unlock(wakeAt int64) {
	nearer := bound(wakeAt) < s.notBefore.load()
	if nearer {
		s.notBefore.store(bound(wakeAt))
	}
	s.mu.Unlock()
	if nearer {
		s.core.aim.offer(wakeAt)
	}
	s.core.mock.noted()
}

// lookup is the live node of that index and generation, or nil. mu must be held.
func (s *shard[T]) lookup(i uint32, generation uint64) *level.Node {
	if s.timers == nil {
		return nil
	}
	return s.timers.Arena().Lookup(i, generation)
}

// discard ends a live timer. mu must be held.
func (s *shard[T]) discard(i uint32, n *level.Node) {
	if f := n.Flags(); f != 0 || s.limited {
		if f&callOnStop != 0 {
			s.onStop--
		}
		if f&noQuota == 0 {
			s.core.quota.release(1)
		}
	}
	t := s.timers
	t.Clear(i)
	if released := t.Remove(i, n); released != level.Nothing && t.Release(released) {
		s.vacate()
	}
}

// vacate gives back all that timers take. mu must be held.
func (s *shard[T]) vacate() {
	s.counts.cascaded += s.timers.Cascaded()
	s.timers = nil
}

// detach takes all timers out at once, whatever their number, and returns them. mu must
// be held.
func (s *shard[T]) detach() (t *timers.Timers[T], n int) {
	t, n = s.timers, s.timers.Len()
	if t != nil {
		s.vacate()
	}
	s.onStop = 0
	if s.core.onDetach != nil {
		s.core.onDetach(int(s.number))
	}
	s.notBefore.store(none)
	return t, n
}
