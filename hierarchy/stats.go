package hierarchy

import (
	"fmt"
	"iter"
	"math"
	"strings"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/internal/circles"
	"github.com/epicycle-go/epicycle/hierarchy/internal/engine"
	"github.com/epicycle-go/epicycle/level"
)

// Stats is a snapshot of a wheel's counters. Taking one does not iterate over timers. It always holds that
//
//	Scheduled = Fired + Stopped + Drained + Dropped + Pending
//
// Waited counts every callback that a Pool, or an Executor of your own, has begun to run. Callbacks of Go and Inline
// are not counted, because these executors have no queue: Inline calls each callback at once, and a goroutine of Go
// waits only for a processor. Callbacks that still wait are not in Waited, but in Queued.
type Stats struct {
	Pending   int       // timers that wait for their deadlines
	Queued    int       // callbacks that the executor has not started yet
	Running   int       // callbacks in progress
	Scheduled uint64    // timers set; each run of a Repeater counts as one
	Fired     uint64    // timers whose callbacks were dispatched
	Stopped   uint64    // timers that Stop or Remove stopped
	Drained   uint64    // timers that Drain took out
	Dropped   uint64    // timers that were pending when the wheel was stopped
	Moved     uint64    // new deadlines by Reset, Move, Set of a pending key, and for a touched Idle
	Cascaded  uint64    // moves of timers from a circle to a finer one
	Wakeups   uint64    // wake-ups, including those for which the wheel stayed awake
	Panics    uint64    // panics in callbacks that were passed to OnPanic
	Skipped   uint64    // runs that repeaters and tickers missed
	Lateness  Histogram // time from deadline to dispatch
	Waited    Histogram // time from dispatch until the callback began
	Closed    bool      // whether the wheel was stopped
}

// String returns the counters in one line. It omits counters that are 0, except for pending and fired.
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

// CircleStats has the number of timers in each slot of one circle.
type CircleStats struct {
	Width time.Duration // width of one slot
	Base  bool          // whether this is the base circle; the circles before it are sub-circles
	Hand  int           // index in Slots of the slot under the hand
	Slots []int         // timers per slot
}

// statsOf returns the counters of c.
func statsOf[T any](c *engine.Core[T]) Stats {
	n := c.Count()
	return Stats{
		Pending: n.Pending, Queued: n.Queued, Running: n.Running,
		Scheduled: n.Fired + n.Stopped + n.Drained + n.Dropped + uint64(n.Pending),
		Fired:     n.Fired, Stopped: n.Stopped, Drained: n.Drained, Dropped: n.Dropped,
		Moved: n.Moved, Cascaded: n.Cascaded, Wakeups: n.Wakeups, Panics: n.Panics, Skipped: n.Skipped,
		Lateness: Histogram{n.Lateness}, Waited: Histogram{n.Waited}, Closed: n.Closed,
	}
}

// circlesOf adds up the circles of all shards. A timer whose deadline was moved later is counted in the slot where it
// still is.
func circlesOf[T any](c *engine.Core[T]) []CircleStats {
	stats := emptyCircles(c.HandsAt())
	c.InSlots(func(circle, slot, n int) { stats[circle].Slots[slot] += n })
	return stats
}

// emptyCircles returns the circles of a layout without timers, with the hands at now.
func emptyCircles(l *circles.Layout, now int64) []CircleStats {
	stats := make([]CircleStats, l.Circles())
	for k := range stats {
		stats[k] = CircleStats{
			Width: l.Width(k),
			Base:  k == l.Base(),
			Hand:  l.SlotFor(k, now),
			Slots: make([]int, level.Slots),
		}
	}
	return stats
}

// Histogram is a distribution of durations: a snapshot in Stats, or one that is filled with Add and Merge. Quantiles
// are exact to an eighth of their value. The zero Histogram is empty.
//
// Methods with a value receiver may be called concurrently, unless Add or Merge changes the Histogram meanwhile. Do not
// copy a Histogram to which more is added, since the copy shares memory with the original. Instead, merge the Histogram
// into an empty one.
type Histogram struct{ h engine.Durations }

// Add counts d, so that a program can count durations of its own as its wheels do. A negative d counts as 0. A call costs some nanoseconds, and the first call allocates about four
// kilobytes.
func (h *Histogram) Add(d time.Duration) { h.h.Add(int64(max(0, d))) }

// Merge adds all durations that g has counted, for one Histogram of several wheels. It costs about a microsecond.
func (h *Histogram) Merge(g Histogram) { h.h.Merge(&g.h) }

// Count returns how many durations were counted.
func (h Histogram) Count() uint64 { return h.h.Count }

// Max returns the longest of the durations, exactly.
func (h Histogram) Max() time.Duration { return time.Duration(h.h.Max) }

// Sum returns the sum of the durations, in seconds because it can exceed the longest time.Duration.
func (h Histogram) Sum() (seconds float64) { return h.h.Sum / float64(time.Second) }

// Mean returns the mean of the durations.
func (h Histogram) Mean() time.Duration {
	if h.h.Count == 0 {
		return 0
	}
	return time.Duration(h.h.Sum / float64(h.h.Count))
}

// Quantile returns a duration that a share q of the durations does not exceed: the median for 0.5, the 99th percentile
// for 0.99. A q below 0 means 0, and a q above 1 means 1. The quantiles of an empty Histogram are 0.
func (h Histogram) Quantile(q float64) time.Duration {
	if h.h.Count == 0 {
		return 0
	}
	rank := max(1, uint64(math.Ceil(min(max(q, 0), 1)*float64(h.h.Count))))
	seen := uint64(0)
	for b, n := range h.h.Bucket {
		if seen += n; seen >= rank {
			return time.Duration(min(engine.BucketEnd(b), h.h.Max))
		}
	}
	return h.Max()
}

// String returns the median, two higher quantiles and the maximum, rounded to three digits.
func (h Histogram) String() string {
	if h.h.Count == 0 {
		return "nothing counted"
	}
	return fmt.Sprintf("p50 %v, p99 %v, p99.9 %v, max %v",
		rounded(h.Quantile(0.5)), rounded(h.Quantile(0.99)), rounded(h.Quantile(0.999)), rounded(h.Max()))
}

// rounded returns d, rounded to three digits.
func rounded(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit)
}

// Buckets iterates over the buckets that are not empty, from the shortest durations to the longest. For each bucket it
// yields the longest duration that the bucket can hold and the number of durations in the bucket. The bounds are the
// same in every Histogram. So the buckets of several Histograms can be added, and the buckets of an earlier snapshot
// can be subtracted.
func (h Histogram) Buckets() iter.Seq2[time.Duration, uint64] {
	return func(yield func(time.Duration, uint64) bool) {
		if h.h.Bucket == nil {
			return
		}
		for b, n := range h.h.Bucket {
			if n > 0 && !yield(time.Duration(engine.BucketEnd(b)), n) {
				return
			}
		}
	}
}

// Circles returns where the timers are, finest circle first, with the hands at now. A timer whose deadline was moved
// later is counted in the slot where it still is. Circles does not iterate over timers: it costs a few microseconds.
func (d *Driven[T]) Circles(now time.Duration) []CircleStats {
	stats := emptyCircles(&drivenLayout, int64(now))
	if d.timers == nil {
		return stats
	}
	for k := range stats {
		for slot := range stats[k].Slots {
			stats[k].Slots[slot] = d.timers.InSlot(k, slot)
		}
	}
	return stats
}
