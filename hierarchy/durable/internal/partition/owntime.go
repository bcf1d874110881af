package partition

import (
	"github.com/epicycle-go/epicycle/clock"
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
