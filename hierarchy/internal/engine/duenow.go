package engine

import (
	"time"

	"github.com/epicycle-go/epicycle/level/arena"
)

// A timer that is due when it is set is not gathered with others. If the clock is not a mock, Go and Pool get its
// callback within the call that sets it: they never block, and never run a task in the call that gives it to them. The
// timer takes no place on the wheel. Other executors may block, or run a task in that call, so only the goroutine that
// wakes the wheel calls them. With these executors, and if a timer with RunInWake is reset, the timer is placed on the
// wheel, and the wheel wakes at once.
// Channels, sleepers and contexts are served within the call, whatever the executor. They are also served within the
// call if their delay passes before the timer is set.

// instant is an upper bound, on any machine, for the time between the reading of the clock from which a delay counts
// and the setting of its timer.
const instant = time.Microsecond

// Passed reports whether d has passed since now, an earlier reading of the clock. It reads the clock again only if d is
// so short that it may have passed. On a mock, time passes only inside Add.
func (c *Core[T]) Passed(now int64, d time.Duration) bool {
	return c.mock == nil && (d <= 0 || d < instant && c.Now()-now >= int64(d))
}

// firesInCall reports whether a timer with the flags f fires within the call if it is due when it is set.
func (s *Shard[T]) firesInCall(f arena.Flags) bool { return s.Core.direct && f&RunInWake == 0 }

// book counts a timer that fires within the call that sets it. Its task is counted as queued with the lock held, so that a
// Shutdown that closes the shard afterwards waits for it. Mu must be held; unlockBooked must follow.
func (s *Shard[T]) book(late int64) {
	s.Mu.assertHeld()
	s.countFired(late)
	s.Core.inFlight.queue(1)
}

// unlockBooked unlocks Mu, and gives the task of v to the executor. wakeBy is EndOfTime, or that of a timer that was set
// and taken out: the wheel may have to wake for a crowd that has grown.
func (s *Shard[T]) unlockBooked(v T, wakeBy int64) {
	if wakeBy == EndOfTime {
		s.Mu.Unlock()
	} else {
		s.unlockFor(wakeBy)
	}
	s.Core.submit(v)
}

// unlockSet ends the setting or moving of a timer that does not fire within the call: it is unlockFor, unless the timer is
// due.
func (s *Shard[T]) unlockSet(now, deadline, wakeBy int64) {
	if deadline <= now {
		s.unlockDue(deadline)
	} else {
		s.unlockFor(wakeBy)
	}
}

// addDue is Add for a timer that is due now.
func (c *Core[T]) addDue(v T, now int64, f arena.Flags) (Handle, error) {
	return c.lockAny().AddHere(v, now, 0, f)
}

// AddHere is Add on s, and unlocks Mu, which must be held. A timer that fires within the call takes no node.
func (s *Shard[T]) AddHere(v T, now int64, d time.Duration, f arena.Flags) (Handle, error) {
	inCall := d <= 0 && s.firesInCall(f)
	if err := s.admit(f, !inCall); err != nil {
		s.Mu.Unlock()
		return Handle{}, err
	}
	if inCall {
		s.Sequence++
		h := Handle{s, s.Sequence, 0}
		s.book(0)
		s.unlockBooked(v, EndOfTime)
		return h, nil
	}
	deadline := DeadlineAfter(now, d)
	i, generation, wakeBy := s.set(v, now, deadline, f)
	if s.Core.OnSet != nil {
		s.Core.OnSet(int(s.number), i)
	}
	s.unlockSet(now, deadline, wakeBy)
	return Handle{s, generation, i}, nil
}

// CallNow calls a callback that is due when it is set, unless the wheel is stopped. It takes no place, and the executor
// has no part in it.
func (c *Core[T]) CallNow(v T) error {
	s := c.lockAny()
	closed := s.Closed
	if !closed {
		s.countPassed()
	}
	s.Mu.Unlock()
	if closed {
		return ErrClosed
	}
	c.invoke(v)
	return nil
}

// countPassed counts a timer that fires within the call that sets it, and is served by that call. Mu must be held.
func (s *Shard[T]) countPassed() {
	s.Sequence++ // so that lockAny samples as often as for other timers
	s.countFired(0)
}

// unlockDue unlocks Mu after the setting of a timer that is already due, and makes the wheel wake at once. On a clock
// whose wake-ups are free, it is unlockFor.
func (s *Shard[T]) unlockDue(deadline int64) {
	if s.Core.aim.precision == 0 {
		s.unlockFor(deadline)
		return
	}
	s.notBefore.store(min(bound(deadline), s.notBefore.load()))
	s.Mu.Unlock()
	s.Core.aim.demand(deadline)
}

// PassSoon waits until d has passed since now, if d is at most armCost, and returns true. If d is longer than armCost,
// it returns false at once. It also returns false if the clock stands still.
func (c *Core[T]) PassSoon(now int64, d time.Duration) bool {
	if d > armCost || c.mock != nil {
		return false
	}
	for range maxLooks {
		if c.Now()-now >= int64(d) {
			return true
		}
	}
	return false
}
