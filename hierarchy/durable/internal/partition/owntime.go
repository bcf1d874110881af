package partition

import (
	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/instant"
)

// ownTime is the owner's time: the wall time of its takeover, and what has passed since.
type ownTime struct {
	clock clock.Clock
	shift int64 // from elapsed time to the owner's
}

func newOwnTime(c clock.Clock) ownTime {
	now := c.Now() // first: if the process stands still here, the owner's time is behind, not ahead
	return ownTime{c, now.UnixNano() - int64(c.Elapsed())}
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
