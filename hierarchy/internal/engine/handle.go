package engine

import (
	"time"

	"github.com/epicycle-go/epicycle/level/arena"
)

// Handle identifies a timer that was set. It is a value, which identifies nothing once the timer has fired or was
// stopped. The zero handle identifies nothing.
type Handle struct {
	host       host
	generation uint64
	index      uint32
}

// host is the shard of a timer.
type host interface {
	stop(i uint32, generation uint64) bool
	reset(i uint32, generation uint64, d time.Duration) bool
	remaining(i uint32, generation uint64) (time.Duration, bool)
}

// Ref is a Handle of a wheel that its user knows. It takes less memory.
type Ref struct {
	Generation   uint64
	Index, Shard uint32
}

// StopRef is Handle.Stop for a timer of c.
func (c *Core[T]) StopRef(r Ref) bool { return c.Shards[r.Shard].stop(r.Index, r.Generation) }

// Stop stops the timer, and reports whether it was pending.
func (h Handle) Stop() bool { return h.host != nil && h.host.stop(h.index, h.generation) }

// Reset makes the timer due after d, and reports whether it was pending.
func (h Handle) Reset(d time.Duration) bool {
	return h.host != nil && h.host.reset(h.index, h.generation, d)
}

// Remaining returns the time until the deadline, or 0 if the timer is due. It reports false if the timer is not
// pending.
func (h Handle) Remaining() (time.Duration, bool) {
	if h.host == nil {
		return 0, false
	}
	return h.host.remaining(h.index, h.generation)
}

// Active reports whether the timer is pending.
func (h Handle) Active() bool {
	_, ok := h.Remaining()
	return ok
}

// stop is Handle.Stop.
func (s *Shard[T]) stop(i uint32, generation uint64) bool {
	if !s.Mu.TryLock() {
		s.Mu.wait()
	}
	n := s.lookup(i, generation)
	if n == nil {
		s.Mu.Unlock()
		return false
	}
	s.discard(i, n)
	s.Counts.Stopped++
	s.Mu.Unlock()
	return true
}

// UnlockStopped stops timer i, and unlocks Mu, which must be held.
func (s *Shard[T]) UnlockStopped(i uint32) {
	s.discard(i, s.Timers.Arena().At(i))
	s.Counts.Stopped++
	s.Mu.Unlock()
}

// reset is Handle.Reset.
func (s *Shard[T]) reset(i uint32, generation uint64, d time.Duration) bool {
	now := s.Core.Now()
	if !s.Mu.TryLock() {
		s.Mu.wait()
	}
	n := s.lookup(i, generation)
	if n == nil {
		s.Mu.Unlock()
		return false
	}
	s.Reschedule(i, n, now, d)
	return true
}

// remaining is Handle.Remaining.
func (s *Shard[T]) remaining(i uint32, generation uint64) (time.Duration, bool) {
	now := s.Core.Now()
	s.Mu.Lock()
	defer s.Mu.Unlock()
	n := s.lookup(i, generation)
	if n == nil || !n.Linked() {
		return 0, false
	}
	return time.Duration(max(0, n.Key-now)), true
}

// Reschedule makes timer i due d after now, and unlocks Mu, which must be held.
func (s *Shard[T]) Reschedule(i uint32, n *arena.Node, now int64, d time.Duration) {
	s.Counts.Moved++
	deadline := DeadlineAfter(now, d)
	if d <= 0 && s.firesInCall(n.Flags()) {
		v := *s.Timers.Value(i)
		if s.Core.OnFire != nil {
			s.Core.OnFire(int(s.number), i)
		}
		s.discard(i, n)
		s.book(0)
		s.unlockBooked(v, EndOfTime)
		return
	}
	s.unlockSet(now, deadline, s.move(i, n, now, deadline))
}
