package hierarchy

import (
	"time"
)

// Timer is a handle of a timer that was set. It is a value, safe to copy, to compare and
// to keep for ever. It does not keep the callback alive. Once the timer has fired or was
// stopped, its Timer is inactive for good, even after the memory has been reused. The zero
// Timer is inactive. All methods may be called concurrently, also inside callbacks. Each
// costs a lock and no allocation.
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
	fireAgain(i uint32, generation uint64, late int64) bool
	hurry(i uint32, generation uint64, now int64) (ok, fires bool)
}

// Stop stops the timer. It is true if the timer was pending and will not fire, and false
// if its callback was dispatched, or it was stopped, drained or dropped before. Stop does
// not wait for a callback that runs.
func (t Timer) Stop() bool {
	return t.shard != nil && t.shard.stop(t.index, t.generation)
}

// Reset makes the timer due after d, at once if d <= 0. It is true if the timer was
// pending, and false if it was too late: then nothing has changed. With d <= 0 and the
// executors Go and Pool, off a mock, the callback is dispatched before Reset returns.
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

// rearm is Reset to an elapsed time, for timers with keepNode, and is not counted as a
// move. If held is false and the timer is in no slot, it is left as it is, and the result
// is true.
func (t Timer) rearm(now, deadline int64, held bool) bool {
	return t.shard != nil && t.shard.rearm(t.index, t.generation, now, deadline, held)
}

// fireAgain fires the timer, which has keepNode, within the call; see shard.fireAgain.
func (t Timer) fireAgain(late int64) bool {
	return t.shard != nil && t.shard.fireAgain(t.index, t.generation, late)
}

// stop is Timer.Stop.
func (s *shard[T]) stop(i uint32, generation uint64) bool {
	if !s.mu.TryLock() {
		s.mu.wait()
	}
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
	if d <= 0 {
		return s.resetToNow(i, generation, now)
	}
	deadline := deadlineAfter(now, d)
	if !s.mu.TryLock() {
		s.mu.wait()
	}
	n := s.lookup(i, generation)
	if n == nil {
		s.mu.Unlock()
		return false
	}
	s.counts.moved++
	s.unlock(s.move(i, n, now, deadline))
	return true
}

// rearm is Timer.rearm.
func (s *shard[T]) rearm(i uint32, generation uint64, now, deadline int64, held bool) bool {
	s.mu.Lock()
	n := s.lookup(i, generation)
	if n == nil || !n.Linked() && !held {
		s.mu.Unlock()
		return n != nil
	}
	wakeAt := s.move(i, n, now, deadline)
	if deadline <= now {
		s.unlockDue(deadline)
	} else {
		s.unlock(wakeAt)
	}
	return true
}

// remaining is Timer.Remaining.
func (s *shard[T]) remaining(i uint32, generation uint64) (time.Duration, bool) {
	now := s.core.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.lookup(i, generation)
	if n == nil || !n.Linked() {
		return 0, false
	}
	return time.Duration(max(0, n.Key-now)), true
}
