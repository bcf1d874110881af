package partition

import (
	"math"
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// ownTime is the owner's time. It begins at the wall time of the takeover, or at the time of the last frame before, and
// advances with the time that has passed since.
type ownTime struct {
	clock clock.Clock
	shift int64 // the owner's time minus the clock's elapsed time
	ahead int64 // how far the owner's time was ahead of the wall clock when it began
}

// readings is the number of times that both clocks are read. The process is hardly suspended during each of these
// readings.
const readings = 5

// newOwnTime returns an owner's time that begins at the wall time, or at the time of the last frame if that is later,
// but at most ahead later than the wall time. If the owner's time began before the last frame, pending timers would be
// late by the difference between the clocks of the two owners.
func newOwnTime(c clock.Clock, last int64, ahead time.Duration) ownTime {
	shift := int64(math.MinInt64)
	for range readings {
		now := c.Now() // read first: if the process is suspended after this line, the wall time is behind, not ahead
		shift = max(shift, now.UnixNano()-int64(c.Elapsed()))
	}
	most := state.Add(shift, int64(ahead))
	begin := max(shift, min(most, state.Sub(last, int64(c.Elapsed()))))
	return ownTime{c, begin, begin - shift}
}

func (t ownTime) now() int64  { return int64(t.clock.Elapsed()) + t.shift }
func (t ownTime) wall() int64 { return t.clock.Now().UnixNano() }

// both returns the owner's time and the wall time.
func (t ownTime) both() (now, wall int64) { return t.now(), t.wall() }

// skew returns how far the wall clock is ahead of the owner's time.
func (t ownTime) skew() int64 { return t.wall() - t.now() }

// since returns how long ago at was; wall tells whether at is a wall time.
func (t ownTime) since(at int64, wall bool) int64 {
	if wall {
		return state.Sub(t.wall(), at)
	}
	return state.Sub(t.now(), at)
}

// Moment is a time by the clock of one of the partition's owners.
type Moment struct {
	Epoch uint64 // the epoch of the owner
	Time  int64
}

// Moment returns now.
func (p *Partition) Moment() Moment { return Moment{p.core.Epoch, p.time.now()} }

// Since returns how long ago a moment was. It returns 0 if the moment is in the future, or is a time by another owner's
// clock.
func (p *Partition) Since(m Moment) time.Duration {
	if m.Epoch != p.core.Epoch {
		return 0
	}
	return max(0, time.Duration(p.time.since(m.Time, false)))
}

// warnEvery is the least time between two warnings of the same kind.
const warnEvery = time.Minute

// seldom limits how often a warning is logged.
type seldom struct {
	mu   mutex
	last time.Time
}

// due reports whether the warning may be logged now. If so, due counts the warning as logged.
func (s *seldom) due() bool {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Sub(s.last) < warnEvery {
		return false
	}
	s.last = now
	return true
}
