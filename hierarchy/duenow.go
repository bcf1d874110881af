package hierarchy

import (
	"time"

	"github.com/epicycle-go/epicycle/level"
)

// A timer that is due when it is set is not gathered with others. Off a mock, Go and Pool
// get its callback within the call that sets it: they never block, and never run a task in
// the call that gives it to them. The timer takes no place on the wheel. Other executors
// may do both, so only the goroutine that wakes the wheel calls them: there the timer takes
// its place, and the wheel wakes at once. Channels, sleepers and contexts are served within
// the call, whatever the executor, and so they are if their delay has passed when the timer would
// be set.

// instant is longer than the time, on any machine, from the reading of the clock that a delay is
// counted from until its timer would be set.
const instant = time.Microsecond

// passed tells whether d has passed since now, an earlier reading of the clock. It reads the clock
// again only if d is so short that it may have. On a mock time passes only inside Add.
func (c *core[T]) passed(now int64, d time.Duration) bool {
	return c.mock == nil && (d <= 0 || d < instant && c.now()-now >= int64(d))
}

// addDue is add of a timer that is due now.
func (c *core[T]) addDue(v T, now int64, f level.Flags) (Timer, error) {
	s := c.lockAny()
	if c.direct {
		return s.fireNew(v)
	}
	if err := s.admit(f); err != nil {
		s.mu.Unlock()
		return Timer{}, err
	}
	i, generation, _ := s.set(v, now, now, f)
	s.unlockDue(now)
	return Timer{s, generation, i}, nil
}

// lockAny locks the shard that add would use.
func (c *core[T]) lockAny() *shard[T] {
	if c.spread.Load() {
		return lockOwn(c.shards)
	}
	s := c.shards[0]
	s.mu.Lock()
	if s.sequence%sampleEvery == 0 && len(c.shards) > 1 {
		c.usage.sample(&c.spread)
	}
	return s
}

// countDue counts a timer that fires within the call that sets it, and has no task: the
// caller sends to its channel.
func (c *core[T]) countDue() error {
	s := c.lockAny()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	s.sequence++
	s.countFired(0)
	return nil
}

// addFired makes a timer with keepNode whose callback fires within the call: submit must
// follow, with no lock held.
func (c *core[T]) addFired(v T, now int64, f level.Flags) (Timer, error) {
	s := c.lockAny()
	if err := s.admit(f); err != nil {
		s.mu.Unlock()
		return Timer{}, err
	}
	i, generation, wakeAt := s.set(v, now, endOfTime, f)
	s.timers.Unlink(s.timers.Arena().At(i))
	s.book(0)
	if wakeAt == endOfTime {
		s.mu.Unlock()
	} else {
		s.unlock(wakeAt) // for a crowd that has grown
	}
	return Timer{s, generation, i}, nil
}

// fireNew fires a timer that was not set before, and needs no node. Its Timer is inactive
// from the beginning. mu must be held, and is unlocked.
func (s *shard[T]) fireNew(v T) (Timer, error) {
	if s.closed {
		s.mu.Unlock()
		return Timer{}, ErrClosed
	}
	if s.core.queueFull() {
		s.mu.Unlock()
		return Timer{}, ErrFull
	}
	s.sequence++
	t := Timer{s, s.sequence, 0}
	s.book(0)
	s.mu.Unlock()
	s.core.submit(v)
	return t, nil
}

// resetToNow is reset to a deadline that has come.
func (s *shard[T]) resetToNow(i uint32, generation uint64, now int64) bool {
	s.mu.Lock()
	n := s.lookup(i, generation)
	if n == nil {
		s.mu.Unlock()
		return false
	}
	return s.resetDue(i, n, now)
}

// resetDue makes timer i due now. mu must be held, and is unlocked.
func (s *shard[T]) resetDue(i uint32, n *level.Node, now int64) bool {
	s.counts.moved++
	if !s.core.direct {
		s.move(i, n, now, now)
		s.unlockDue(now)
		return true
	}
	v := *s.timers.Value(i)
	if s.core.onFire != nil {
		s.core.onFire(int(s.number), i)
	}
	s.discard(i, n)
	s.book(0)
	s.mu.Unlock()
	s.core.submit(v)
	return true
}

// fireAgain fires a timer with keepNode that is in no slot. If it reports true, submit must
// follow, with no lock held. It reports false if the timer has ended, or must be set.
func (s *shard[T]) fireAgain(i uint32, generation uint64, late int64) bool {
	if !s.core.direct {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.lookup(i, generation)
	if n == nil || n.Flags()&runInWake != 0 {
		return false
	}
	s.book(late)
	return true
}

// book counts a timer that fires within the call that sets it. Its task is counted as
// queued with the lock held: so a Shutdown that closes the shard afterwards waits for it.
// mu must be held, and submit must follow, without it.
func (s *shard[T]) book(late int64) {
	s.countFired(late)
	s.core.inFlight.queue(1)
}

// countFired counts a timer that fires. mu must be held.
func (s *shard[T]) countFired(late int64) {
	s.counts.fired++
	s.lateness.add(late)
}

// unlockDue is unlock after a timer was set that is due already: the wheel wakes at once.
// On a clock whose wake-ups are free nothing else ever happens.
func (s *shard[T]) unlockDue(deadline int64) {
	if s.core.aim.precision == 0 {
		s.unlock(deadline)
		return
	}
	s.notBefore.store(min(bound(deadline), s.notBefore.load()))
	s.mu.Unlock()
	s.core.aim.demand(deadline)
}

// demand is offer for a deadline that has passed when it is set. No gap holds it up, also
// if the wheel is awake and goes to sleep without having seen it.
//
// Urgent deadlines have all passed. So a deadline that is not later has passed, too, and is
// overdue, whether it was due when it was set or not.
func (a *aim) demand(deadline int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.urgent = max(a.urgent, deadline)
	if !a.awake && !a.closed {
		a.set(deadline)
	}
}
