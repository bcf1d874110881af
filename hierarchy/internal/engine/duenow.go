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

// addDue is Add for a timer that is due now.
func (c *Core[T]) addDue(v T, now int64, f arena.Flags) (Handle, error) {
	s := c.LockAny()
	if c.direct {
		return s.FireNew(v)
	}
	if err := s.Admit(f); err != nil {
		s.Mu.Unlock()
		return Handle{}, err
	}
	i, generation, _ := s.Set(v, now, now, f)
	s.UnlockDue(now)
	return Handle{s, generation, i}, nil
}

// LockAny locks the shard that Add would use.
func (c *Core[T]) LockAny() *Shard[T] {
	if c.spread.Load() {
		return lockOwn(c.Shards)
	}
	s := c.Shards[0]
	s.Mu.Lock()
	if s.Sequence%sampleEvery == 0 && len(c.Shards) > 1 {
		c.usage.sample(&c.spread)
	}
	return s
}

// CountDue counts a timer that fires within the call that sets it. Such a timer has no task for the executor: the
// caller serves it.
func (c *Core[T]) CountDue() error {
	s := c.LockAny()
	defer s.Mu.Unlock()
	if s.Closed {
		return ErrClosed
	}
	s.Sequence++
	s.countFired(0)
	return nil
}

// CallNow calls a callback that is due when it is set.
func (c *Core[T]) CallNow(v T) error {
	if err := c.CountDue(); err != nil {
		return err
	}
	c.invoke(v)
	return nil
}

// AddFired makes a timer with KeepNode whose callback fires within the call: Submit must follow, with no lock held.
func (c *Core[T]) AddFired(v T, now int64, f arena.Flags) (Handle, error) {
	s := c.LockAny()
	if err := s.Admit(f); err != nil {
		s.Mu.Unlock()
		return Handle{}, err
	}
	i, generation, wakeAt := s.Set(v, now, EndOfTime, f)
	s.Timers.Unlink(s.Timers.Arena().At(i))
	s.Book(0)
	if wakeAt == EndOfTime {
		s.Mu.Unlock()
	} else {
		s.UnlockFor(wakeAt) // the wheel may have to wake for a crowd that has grown
	}
	return Handle{s, generation, i}, nil
}

// FireNew fires a timer that was not set before, and needs no node. Its Timer is inactive
// from the beginning. Mu must be held, and is unlocked.
func (s *Shard[T]) FireNew(v T) (Handle, error) {
	if s.Closed {
		s.Mu.Unlock()
		return Handle{}, ErrClosed
	}
	if s.Core.queueFull() {
		s.Mu.Unlock()
		return Handle{}, ErrFull
	}
	s.Sequence++
	t := Handle{s, s.Sequence, 0}
	s.Book(0)
	s.Mu.Unlock()
	s.Core.Submit(v)
	return t, nil
}

// resetToNow is Reset to a deadline that has passed.
func (s *Shard[T]) resetToNow(i uint32, generation uint64, now int64) bool {
	s.Mu.Lock()
	n := s.Lookup(i, generation)
	if n == nil {
		s.Mu.Unlock()
		return false
	}
	return s.resetDue(i, n, now)
}

// resetDue makes timer i due now. Mu must be held, and is unlocked.
func (s *Shard[T]) resetDue(i uint32, n *arena.Node, now int64) bool {
	s.Mu.assertHeld()
	s.Counts.Moved++
	if !s.Core.direct || n.Flags()&RunInWake != 0 {
		s.Move(i, n, now, now)
		s.UnlockDue(now)
		return true
	}
	v := *s.Timers.Value(i)
	if s.Core.OnFire != nil {
		s.Core.OnFire(int(s.number), i)
	}
	s.Discard(i, n)
	s.Book(0)
	s.Mu.Unlock()
	s.Core.Submit(v)
	return true
}

// fireAgain fires a timer with KeepNode that is in no slot. If it reports true, Submit must follow, with no lock held.
// If it reports false, the timer has ended, or the caller must set it.
func (s *Shard[T]) fireAgain(i uint32, generation uint64, late int64) bool {
	if !s.Core.direct {
		return false
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	n := s.Lookup(i, generation)
	if n == nil || n.Flags()&RunInWake != 0 {
		return false
	}
	s.Book(late)
	return true
}

// Book counts a timer that fires within the call that sets it. Its task is counted as queued with the lock held, so
// that a Shutdown that closes the shard afterwards waits for the task. Mu must be held. Submit must follow once Mu is
// unlocked.
func (s *Shard[T]) Book(late int64) {
	s.Mu.assertHeld()
	s.countFired(late)
	s.Core.inFlight.queue(1)
}

// countFired counts a timer that fires. Mu must be held.
func (s *Shard[T]) countFired(late int64) {
	s.Mu.assertHeld()
	s.Counts.Fired++
	s.lateness.Add(late)
}

// UnlockDue unlocks Mu after the setting of a timer that is already due, and makes the wheel wake at once. On a clock
// whose wake-ups are free, it is UnlockFor.
func (s *Shard[T]) UnlockDue(deadline int64) {
	if s.Core.aim.precision == 0 {
		s.UnlockFor(deadline)
		return
	}
	s.notBefore.store(min(bound(deadline), s.notBefore.load()))
	s.Mu.Unlock()
	s.Core.aim.demand(deadline)
}
