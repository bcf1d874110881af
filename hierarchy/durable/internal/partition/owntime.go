package partition

import (
	"math"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/instant"
)

// ownTime is the owner's time: the wall time of its takeover, but not less than the time of the last
// frame before, and what has passed since.
type ownTime struct {
	clock clock.Clock
	shift int64 // from elapsed time to the owner's
}

// readings is how often the clocks are read for an owner's time. A process seldom stands still in each.
const readings = 3

// newOwnTime is an owner's time that begins at the wall time, or at least if that is later: by a clock
// that is behind, what is pending would be late by as much.
func newOwnTime(c clock.Clock, least int64) ownTime {
	t := ownTime{c, math.MinInt64}
	for range readings {
		now := c.Now() // first: if the process stands still here, this reading is behind, not ahead
		t.shift = max(t.shift, now.UnixNano()-int64(c.Elapsed()))
	}
	t.shift = max(t.shift, least-int64(c.Elapsed()))
	return t
}

func (t ownTime) now() int64  { return int64(t.clock.Elapsed()) + t.shift }
func (t ownTime) wall() int64 { return t.clock.Now().UnixNano() }

// skew is how far the wall clock is ahead of the owner's time.
func (t ownTime) skew() int64 { return t.wall() - t.now() }

// since is how long it is since at.
func (t ownTime) since(at int64, wall bool) int64 {
	if wall {
		return instant.Minus(t.wall(), at)
	}
	return instant.Minus(t.now(), at)
}
