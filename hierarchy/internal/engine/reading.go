package engine

import (
	"time"

	"github.com/epicycle-go/epicycle/clock"
)

// Clock returns the wheel's clock.
func (c *Core[T]) Clock() clock.Clock { return c.clock }

// Now returns the elapsed time of the wheel's clock.
func (c *Core[T]) Now() int64 {
	RequireMade(c != nil, "wheel")
	return int64(c.clock.Elapsed())
}

// Wall returns the wall time of the wheel's clock.
func (c *Core[T]) Wall() time.Time {
	RequireMade(c != nil, "wheel")
	return c.clock.Now()
}

// Closed reports whether the wheel is stopped.
func (c *Core[T]) Closed() bool {
	RequireMade(c != nil, "wheel")
	return c.closed.Load()
}

// Reading returns the wall time and the elapsed time of the wheel's clock. A
// clock.Reader is read once.
func (c *Core[T]) Reading() (wall time.Time, elapsed int64) {
	RequireMade(c != nil, "wheel")
	if r, ok := c.clock.(clock.Reader); ok {
		now, d := r.Reading()
		return now, int64(d)
	}
	return c.clock.Now(), int64(c.clock.Elapsed())
}

// WallAt returns the wall time of an elapsed time that has passed. Like package time, channels send the time when a
// value was due, not when it was sent.
func (c *Core[T]) WallAt(due int64) time.Time {
	wall, now := c.Reading()
	return wall.Add(-time.Duration(max(0, now-due)))
}

// WallTimes returns a function that converts elapsed times to wall times, as of now. The results have no monotonic
// reading, so that they can be stored.
func (c *Core[T]) WallTimes() func(elapsed int64) time.Time {
	now, elapsed := c.Reading()
	return func(at int64) time.Time { return now.Add(time.Duration(at - elapsed)).Round(0) }
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

// OnMock reports whether the wheel's clock is a mock.
func (c *Core[T]) OnMock() bool { return c.mock != nil }

// Precision returns the least distance between two wake-ups of a wheel that gathers timers. It is 0 if wake-ups are free.
func (c *Core[T]) Precision() int64 { return c.aim.precision }

// Firing returns the deadline of the timer with RunInWake whose callback the round is calling. Only that callback may
// call Firing, before anything else. Such a callback is never given to an executor.
func (c *Core[T]) Firing() int64 { return c.waking }

// Settled reports whether no round and no task is in flight.
func (c *Core[T]) Settled() bool { return c.inFlight.none() }

// Skip counts runs that a repeater or ticker missed.
func (c *Core[T]) Skip(runs int64) { c.skipped.Add(uint64(runs)) }

// LatestOrder returns a number that is at least the last order that a timer was given. Mu must be held.
func (s *Shard[T]) LatestOrder() uint64 { return s.Core.mock.latestOrder(s.Sequence) }
