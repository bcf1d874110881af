package engine

import (
	"time"

	"github.com/epicycle-go/epicycle/level/arena"
)

// Handle identifies a timer that was set. It is a value, which identifies nothing once the timer has fired or was
// stopped. The zero handle identifies nothing.
type Handle struct {
	host       host
	Generation uint64
	Index      uint32
}

// host is the shard of a timer.
type host interface {
	stop(i uint32, generation uint64) bool
	reset(i uint32, generation uint64, d time.Duration) bool
	remaining(i uint32, generation uint64) (time.Duration, bool)
	rearm(i uint32, generation uint64, now, deadline int64, held bool) bool
	fireAgain(i uint32, generation uint64, late int64) bool
	hurry(i uint32, generation uint64, now int64) (ok, fires bool)
}

// ShardOf returns the number of the shard of h, which must not be the zero handle.
func (c *Core[T]) ShardOf(h Handle) uint32 { return uint32(h.host.(*Shard[T]).number) }

// OnShard returns the handle with that index and generation on a shard.
func (c *Core[T]) OnShard(shard, index uint32, generation uint64) Handle {
	return Handle{c.Shards[shard], generation, index}
}

// Stop stops the timer, and reports whether it was pending.
func (h Handle) Stop() bool { return h.host != nil && h.host.stop(h.Index, h.Generation) }

// Reset makes the timer due after d, and reports whether it was pending.
func (h Handle) Reset(d time.Duration) bool {
	return h.host != nil && h.host.reset(h.Index, h.Generation, d)
}

// Remaining returns the time until the deadline, or 0 if the timer is due. It reports false if the timer is not
// pending.
func (h Handle) Remaining() (time.Duration, bool) {
	if h.host == nil {
		return 0, false
	}
	return h.host.remaining(h.Index, h.Generation)
}

// Active reports whether the timer is pending.
func (h Handle) Active() bool {
	_, ok := h.Remaining()
	return ok
}

// Rearm is Reset to an elapsed time, for timers with KeepNode, and is not counted as a move. If held is false and the
// timer is in no slot, Rearm leaves it as it is, and reports true.
func (h Handle) Rearm(now, deadline int64, held bool) bool {
	return h.host != nil && h.host.rearm(h.Index, h.Generation, now, deadline, held)
}

// FireAgain fires the timer, which has KeepNode, within the call; see Shard.fireAgain.
func (h Handle) FireAgain(late int64) bool {
	return h.host != nil && h.host.fireAgain(h.Index, h.Generation, late)
}

// Hurry makes the timer, which has KeepNode, due now, unless its task is with the executor. A timer that is in no slot
// has its task with the executor, unless nothing of the wheel is in flight: then the executor has lost the task by a
// panic. ok is false if the timer has ended. If fires is true, Submit must follow, with no lock held. Hurry is not
// counted as a move.
func (h Handle) Hurry(now int64) (ok, fires bool) {
	return h.host.hurry(h.Index, h.Generation, now)
}

// stop is Handle.Stop.
func (s *Shard[T]) stop(i uint32, generation uint64) bool {
	if !s.Mu.TryLock() {
		s.Mu.wait()
	}
	n := s.Lookup(i, generation)
	if n == nil {
		s.Mu.Unlock()
		return false
	}
	s.Discard(i, n)
	s.Counts.Stopped++
	s.Mu.Unlock()
	return true
}

// reset is Handle.Reset.
func (s *Shard[T]) reset(i uint32, generation uint64, d time.Duration) bool {
	now := s.Core.Now()
	if d <= 0 {
		return s.resetToNow(i, generation, now)
	}
	deadline := DeadlineAfter(now, d)
	if !s.Mu.TryLock() {
		s.Mu.wait()
	}
	n := s.Lookup(i, generation)
	if n == nil {
		s.Mu.Unlock()
		return false
	}
	s.Counts.Moved++
	s.UnlockFor(s.Move(i, n, now, deadline))
	return true
}

// rearm is Handle.Rearm.
func (s *Shard[T]) rearm(i uint32, generation uint64, now, deadline int64, held bool) bool {
	s.Mu.Lock()
	n := s.Lookup(i, generation)
	if n == nil || !n.Linked() && !held {
		s.Mu.Unlock()
		return n != nil
	}
	wakeAt := s.Move(i, n, now, deadline)
	if deadline <= now {
		s.UnlockDue(deadline)
	} else {
		s.UnlockFor(wakeAt)
	}
	return true
}

// remaining is Handle.Remaining.
func (s *Shard[T]) remaining(i uint32, generation uint64) (time.Duration, bool) {
	now := s.Core.Now()
	s.Mu.Lock()
	defer s.Mu.Unlock()
	n := s.Lookup(i, generation)
	if n == nil || !n.Linked() {
		return 0, false
	}
	return time.Duration(max(0, n.Key-now)), true
}

// hurry is Handle.Hurry.
func (s *Shard[T]) hurry(i uint32, generation uint64, now int64) (ok, fires bool) {
	s.Mu.Lock()
	n := s.Lookup(i, generation)
	unlinked := n != nil && !n.Linked()
	if n == nil || unlinked && !s.Core.inFlight.none() {
		s.Mu.Unlock()
		return n != nil, false
	}
	if s.Core.direct && !unlinked {
		s.Timers.Unlink(n)
		s.Book(0)
		s.Mu.Unlock()
		return true, true
	}
	s.Move(i, n, now, now)
	s.UnlockDue(now)
	return true, false
}

// Reschedule makes timer i due d after now. Mu must be held, and is unlocked.
func (s *Shard[T]) Reschedule(i uint32, n *arena.Node, now int64, d time.Duration) {
	if d <= 0 {
		s.resetDue(i, n, now)
		return
	}
	s.Counts.Moved++
	deadline := DeadlineAfter(now, d)
	s.UnlockFor(s.Move(i, n, now, deadline))
}
