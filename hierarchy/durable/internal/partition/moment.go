package partition

import (
	"slices"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// HasDurations reports whether something of c counts from now.
func (c *Call) HasDurations() bool {
	return slices.ContainsFunc(c.Asks, func(a Ask) bool { return a.counts() })
}

// counts reports whether a's time counts from now.
func (a *Ask) counts() bool { return a.Kind == frame.Set || a.Kind == frame.Move }

// Moment is a time of an owner of the partition, by its own clock.
type Moment struct {
	Epoch uint64 // of the owner
	Time  int64
}

// Moment is now.
func (p *Partition) Moment() Moment { return Moment{p.epoch, p.time.now()} }

// Since is how long ago a moment of this owner was. It is 0 if the moment is not over, or is another owner's.
func (p *Partition) Since(m Moment) time.Duration {
	if m.Epoch != p.epoch {
		return 0
	}
	return max(0, time.Duration(p.time.since(m.Time, false)))
}
