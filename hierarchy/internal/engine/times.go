package engine

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/clock"
)

// EndOfTime is the last time of a wheel. Times inside a wheel are nanoseconds of its clock's elapsed time, from 0 to
// EndOfTime. A deadline may be any of them.
const EndOfTime int64 = math.MaxInt64 // 292 years

// DeadlineAfter returns now + d, or EndOfTime on overflow. If d is 0 or negative, it returns now.
func DeadlineAfter(now int64, d time.Duration) int64 {
	if d <= 0 {
		return now
	}
	if t := now + int64(d); t >= now {
		return t
	}
	return EndOfTime
}

// bound is a time or none, which compares greater than every time.
type bound uint64

const none bound = math.MaxUint64

// atomicBound is a bound that is read without a lock.
type atomicBound struct{ word atomic.Uint64 }

func (a *atomicBound) load() bound   { return bound(a.word.Load()) }
func (a *atomicBound) store(b bound) { a.word.Store(uint64(b)) }

// Clock returns the wheel's clock.
func (c *Core[T]) Clock() clock.Clock {
	RequireMade(c != nil, "wheel")
	return c.clock
}

// Now returns the elapsed time of the wheel's clock.
func (c *Core[T]) Now() int64 {
	RequireMade(c != nil, "wheel")
	return int64(c.clock.Elapsed())
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
