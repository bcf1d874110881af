package engine

import (
	"github.com/epicycle-go/epicycle/hierarchy/internal/circles"
	"github.com/epicycle-go/epicycle/level"
)

// Counts are the counters of one shard, guarded by its lock.
type Counts struct {
	Stopped, Moved, Fired, Drained, Dropped, Cascaded uint64
}

// Snapshot is the counters of a wheel, as of the call.
type Snapshot struct {
	Counts
	Pending, Queued, Running int
	Wakeups, Panics, Skipped uint64
	Lateness, Waited         Durations
	Closed                   bool
}

// Count adds up the counters of all shards.
func (c *Core[T]) Count() (n Snapshot) {
	RequireMade(c != nil, "wheel")
	for _, s := range c.Shards {
		s.Mu.Lock()
		n.Fired += s.Counts.Fired
		n.Stopped += s.Counts.Stopped
		n.Drained += s.Counts.Drained
		n.Dropped += s.Counts.Dropped
		n.Moved += s.Counts.Moved
		n.Cascaded += s.Counts.Cascaded
		if s.Timers != nil {
			n.Cascaded += s.Timers.Cascaded()
		}
		n.Pending += s.Timers.Len()
		n.Lateness.Merge(&s.lateness)
		s.Mu.Unlock()
	}
	c.waits.addTo(&n.Waited)
	n.Closed = c.closed.Load()
	n.Queued, n.Running = c.inFlight.count()
	n.Wakeups, n.Panics, n.Skipped = c.aim.count(), c.panics.Load(), c.skipped.Load()
	return n
}

// HandsAt returns the layout of the circles, and the time of the hands. Once the wheel is stopped, now is the time at
// which it was stopped.
func (c *Core[T]) HandsAt() (l *circles.Layout, now int64) {
	now = c.Now()
	if c.closed.Load() {
		now = c.stoppedAt.Load()
	}
	return &c.layout, now
}

// InSlots calls f with the number of timers in each slot of each circle, for each shard that has any. f must not call
// c.
func (c *Core[T]) InSlots(f func(circle, slot, n int)) {
	for _, s := range c.Shards {
		s.Mu.Lock()
		if s.Timers != nil {
			for k := range c.layout.Circles() {
				for slot := range level.Slots {
					f(k, slot, s.Timers.InSlot(k, slot))
				}
			}
		}
		s.Mu.Unlock()
	}
}

// Skip counts runs that a repeater or ticker missed.
func (c *Core[T]) Skip(runs int64) { c.skipped.Add(uint64(runs)) }

// countFired counts a timer that fires. Mu must be held.
func (s *Shard[T]) countFired(late int64) {
	s.Mu.assertHeld()
	s.Counts.Fired++
	s.lateness.Add(late)
}
