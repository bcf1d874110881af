package hierarchy

import (
	"time"

	"github.com/epicycle-go/epicycle/level"
)

// Timer is a timer that was set: a value, safe to copy, to compare and to keep
// for ever. It holds on to no callback, and once its timer has fired or was
// stopped it is inactive for good, whatever its memory was used for since. The
// zero Timer is inactive. All methods may be called concurrently, also inside
// callbacks; each costs a lock and no allocation.
type Timer struct {
	shard      host
	generation uint64
	index      uint32
}

// host is the shard a timer is on.
type host interface {
	stop(i uint32, generation uint64) bool
	reset(i uint32, generation uint64, d time.Duration) bool
	remaining(i uint32, generation uint64) (time.Duration, bool)
	rearm(i uint32, generation uint64, now, deadline int64, held bool) bool
}

// Stop is true if the timer was pending and will not fire. If it is false, the
// callback was handed over, or the timer was stopped, drained or dropped
// before; Stop does not wait for a callback that runs.
func (t Timer) Stop() bool {
	return t.shard != nil && t.shard.stop(t.index, t.generation)
}

// Reset is true if the timer was pending and is now due after d, at once if d <= 0;
// false if it is too late, and nothing changed.
func (t Timer) Reset(d time.Duration) bool {
	return t.shard != nil && t.shard.reset(t.index, t.generation, d)
}

// Active tells whether the timer is pending.
func (t Timer) Active() bool {
	_, ok := t.Remaining()
	return ok
}

// Remaining is the time until the deadline, 0 if the timer is due, and false
// if it is not pending.
func (t Timer) Remaining() (time.Duration, bool) {
	if t.shard == nil {
		return 0, false
	}
	return t.shard.remaining(t.index, t.generation)
}

// rearm is Reset to an elapsed time, not counted as one. If held is false, a timer
// that is held stays so.
func (t Timer) rearm(now, deadline int64, held bool) bool {
	return t.shard != nil && t.shard.rearm(t.index, t.generation, now, deadline, held)
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
	deadline := deadlineAfter(now, d)
	s.mu.Lock()
	n := s.lookup(i, generation)
	if n == nil {
		s.mu.Unlock()
		return false
	}
	s.counts.moved++
	s.move(i, n, now, deadline)
	s.unlock(deadline)
	return true
}

// rearm is Timer.rearm.
func (s *shard[T]) rearm(i uint32, generation uint64, now, deadline int64, held bool) bool {
	s.mu.Lock()
	n := s.lookup(i, generation)
	if n == nil || n.Circle() == level.Unlinked && !held {
		s.mu.Unlock()
		return n != nil
	}
	s.move(i, n, now, deadline)
	s.unlock(deadline)
	return true
}

// remaining is Timer.Remaining.
func (s *shard[T]) remaining(i uint32, generation uint64) (time.Duration, bool) {
	now := s.core.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.lookup(i, generation)
	if n == nil || n.Circle() == level.Unlinked {
		return 0, false
	}
	return time.Duration(max(0, n.Key-now)), true
}
