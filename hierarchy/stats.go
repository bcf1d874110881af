package hierarchy

import (
	"fmt"
	"strings"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/internal/circles"
	"github.com/epicycle-go/epicycle/level"
)

// Stats is a snapshot of a wheel's counters. Taking one does not walk over timers. It
// always holds that
//
//	Scheduled = Fired + Stopped + Drained + Dropped + Pending
//
// Waited counts every callback that a Pool, or an Executor of your own, has begun to run. Those of
// Go and Inline are not counted, because they do not queue: Inline calls what it gets, and a
// goroutine of Go waits for a processor alone. What still waits is not in Waited, but in Queued.
type Stats struct {
	Pending   int       // timers that wait for their deadlines
	Queued    int       // callbacks that the executor has not started yet
	Running   int       // callbacks that run
	Scheduled uint64    // timers set; each run of a Repeater counts as one
	Fired     uint64    // timers whose callbacks were dispatched
	Stopped   uint64    // timers that Stop or Remove stopped
	Drained   uint64    // timers that Drain took out
	Dropped   uint64    // timers that were pending when the wheel was stopped
	Moved     uint64    // new deadlines by Reset, Move, Set of a pending key, and for a touched Idle
	Cascaded  uint64    // moves of timers from a circle to a finer one
	Wakeups   uint64    // times that the wheel woke up, or stayed awake for the next time
	Panics    uint64    // panics in callbacks that were passed to OnPanic
	Skipped   uint64    // runs that repeaters and tickers missed
	Lateness  Histogram // time from deadline to dispatch
	Waited    Histogram // time from dispatch until the callback began
	Closed    bool      // whether the wheel was stopped
}

// String returns the counters in one line. Counters that are 0 are left out, except for
// pending and fired.
func (st Stats) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d pending", st.Pending)
	for _, part := range []struct {
		n    uint64
		name string
	}{
		{uint64(st.Queued), "queued"}, {uint64(st.Running), "running"}, {st.Scheduled, "scheduled"},
		{st.Fired, "fired"}, {st.Stopped, "stopped"}, {st.Drained, "drained"}, {st.Dropped, "dropped"},
		{st.Moved, "moved"}, {st.Cascaded, "cascaded"}, {st.Wakeups, "wake-ups"}, {st.Panics, "panics"},
		{st.Skipped, "skipped"},
	} {
		if part.n > 0 || part.name == "fired" {
			fmt.Fprintf(&b, ", %d %s", part.n, part.name)
		}
	}
	if st.Lateness.Count() > 0 {
		fmt.Fprintf(&b, "; late by %v", st.Lateness)
	}
	if st.Waited.Count() > 0 {
		fmt.Fprintf(&b, "; callbacks waited %v", st.Waited)
	}
	if st.Closed {
		b.WriteString("; stopped")
	}
	return b.String()
}

// counts are the counters of one shard, guarded by its lock.
type counts struct {
	stopped, moved, fired, drained, dropped, cascaded uint64
}

// CircleStats is where the timers of one circle are.
type CircleStats struct {
	Width time.Duration // of one slot
	Base  bool          // the base circle; those before it are its sub-circles
	Hand  int           // slot under the hand
	Slots []int         // timers per slot
}

func (c *core[T]) stats() Stats {
	requireMade(c != nil, "wheel")
	var st Stats
	for _, s := range c.shards {
		s.mu.Lock()
		n := s.counts
		if s.timers != nil {
			n.cascaded += s.timers.Cascaded()
		}
		st.Pending += s.timers.Len()
		st.Fired += n.fired
		st.Stopped += n.stopped
		st.Drained += n.drained
		st.Dropped += n.dropped
		st.Moved += n.moved
		st.Cascaded += n.cascaded
		st.Lateness.h.merge(&s.lateness)
		s.mu.Unlock()
	}
	st.Scheduled = st.Fired + st.Stopped + st.Drained + st.Dropped + uint64(st.Pending)
	c.waits.addTo(&st.Waited.h)
	st.Closed = c.closed.Load()
	st.Queued, st.Running = c.inFlight.count()
	st.Wakeups = c.aim.count()
	st.Panics = c.panics.Load()
	st.Skipped = c.skipped.Load()
	return st
}

// circleStats adds up the circles of all shards. The hands of a wheel that was stopped stay where
// they were. A timer whose deadline has moved later is
// counted in the slot that it still sits in.
func (c *core[T]) circleStats() []CircleStats {
	now := c.now()
	if c.closed.Load() {
		now = c.stoppedAt.Load()
	}
	stats := emptyCircles(&c.layout, now)
	for _, s := range c.shards {
		s.mu.Lock()
		if s.timers != nil {
			for k := range stats {
				for slot := range stats[k].Slots {
					stats[k].Slots[slot] += s.timers.InSlot(k, slot)
				}
			}
		}
		s.mu.Unlock()
	}
	return stats
}

// emptyCircles is the circles of a layout without timers, with the hands at now.
func emptyCircles(l *circles.Layout, now int64) []CircleStats {
	stats := make([]CircleStats, l.Circles())
	for k := range stats {
		stats[k] = CircleStats{
			Width: l.Width(k),
			Base:  k == l.Base(),
			Hand:  l.Hand(k, now),
			Slots: make([]int, level.Slots),
		}
	}
	return stats
}
