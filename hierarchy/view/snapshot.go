package view

import (
	"math/bits"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
)

// snapshot is the content of a snapshot of one wheel. doc.go documents its fields.
type snapshot struct {
	Time    time.Time     `json:"time"`
	Taken   time.Duration `json:"taken_ns"`
	Elapsed time.Duration `json:"elapsed_ns"`
	figures
	Circles []circle        `json:"circles"`
	Logs    []logFigures    `json:"logs,omitzero"`    // nil for a wheel in memory
	Members []memberFigures `json:"members,omitzero"` // nil if the logs are not shared
}

// figures are the figures of a wheel without its circles.
type figures struct {
	Closed    bool           `json:"closed"`
	Pending   int            `json:"pending"`
	Queued    int            `json:"queued"`
	Running   int            `json:"running"`
	Scheduled uint64         `json:"scheduled"`
	Fired     uint64         `json:"fired"`
	Stopped   uint64         `json:"stopped"`
	Drained   uint64         `json:"drained"`
	Dropped   uint64         `json:"dropped"`
	Moved     uint64         `json:"moved"`
	Cascaded  uint64         `json:"cascaded"`
	Wakeups   uint64         `json:"wakeups"`
	Panics    uint64         `json:"panics"`
	Skipped   uint64         `json:"skipped"`
	Lateness  lateness       `json:"lateness"`
	Recent    recentLateness `json:"recent_lateness"`
	Waited    lateness       `json:"waited"`
	Waiting   recentLateness `json:"recent_waited"`
}

type lateness struct {
	Count uint64        `json:"count"`
	Mean  time.Duration `json:"mean_ns"`
	quantiles
	Buckets []bucket `json:"buckets,omitzero"`
}

// recentLateness is the lateness in the last minute. It has no mean, because the mean of a
// difference can't be computed from two means.
type recentLateness struct {
	Span  time.Duration `json:"span_ns"`
	Count uint64        `json:"count"`
	quantiles
	Buckets []bucket `json:"buckets,omitzero"`
}

type quantiles struct {
	P50  time.Duration `json:"p50_ns"`
	P90  time.Duration `json:"p90_ns"`
	P99  time.Duration `json:"p99_ns"`
	P999 time.Duration `json:"p999_ns"`
	Max  time.Duration `json:"max_ns"`
}

type bucket struct {
	UpTo  time.Duration `json:"up_to_ns"`
	Count uint64        `json:"count"`
}

type circle struct {
	Width  time.Duration `json:"width_ns"`
	Base   bool          `json:"base"`
	Hand   int           `json:"hand"`
	Timers int           `json:"timers"`
	Slots  []int         `json:"slots"`
}

func figuresOf(st hierarchy.Stats) figures {
	return figures{
		Closed: st.Closed, Pending: st.Pending, Queued: st.Queued, Running: st.Running,
		Scheduled: st.Scheduled, Fired: st.Fired, Stopped: st.Stopped,
		Drained: st.Drained, Dropped: st.Dropped, Moved: st.Moved,
		Cascaded: st.Cascaded, Wakeups: st.Wakeups, Panics: st.Panics, Skipped: st.Skipped,
	}
}

// elapsedOf returns the time that the hands show together: each hand is one digit of the time. The finest circle may
// turn before its hand has passed all its slots. Time beyond a slot of the next circle is counted by the hand of the
// next circle.
func elapsedOf(circles []hierarchy.CircleStats) time.Duration {
	var sum time.Duration
	for k, c := range circles {
		if next := k + 1; next < len(circles) && circles[next].Width > 0 {
			sum += time.Duration(c.Hand) * c.Width % circles[next].Width
			continue
		}
		sum += time.Duration(c.Hand) * c.Width
	}
	return sum
}

func circlesOf(all []hierarchy.CircleStats) []circle {
	circles := make([]circle, len(all))
	for k, c := range all {
		timers := 0
		for _, n := range c.Slots {
			timers += n
		}
		circles[k] = circle{Width: c.Width, Base: c.Base, Hand: c.Hand, Timers: timers, Slots: append([]int{}, c.Slots...)}
	}
	return circles
}

func latenessOf(h hierarchy.Histogram, d distribution) lateness {
	return lateness{
		Count: h.Count(), Mean: h.Mean(),
		quantiles: quantilesOf(h.Quantile, h.Max()), Buckets: d.byPowerOfTwo(),
	}
}

// recentOf computes all durations from buckets, even the longest, because a Histogram does not record when its longest
// duration was added. So the computed durations are at most an eighth too long.
func recentOf(d distribution, span, longest time.Duration) recentLateness {
	at := func(q float64) time.Duration { return d.quantile(q, longest) }
	return recentLateness{
		Span: span, Count: d.count(), quantiles: quantilesOf(at, at(1)), Buckets: d.byPowerOfTwo(),
	}
}

func quantilesOf(at func(float64) time.Duration, longest time.Duration) quantiles {
	return quantiles{P50: at(0.5), P90: at(0.9), P99: at(0.99), P999: at(0.999), Max: longest}
}

// byPowerOfTwo merges the up to eight buckets between two powers of two, because the page
// has no room for more bars. No bucket extends across a power of two.
func (d distribution) byPowerOfTwo() []bucket {
	coarse := []bucket{} // never null in JSON
	for _, b := range d {
		bound := time.Duration(1)<<bits.Len64(uint64(b.UpTo)) - 1
		if last := len(coarse) - 1; last >= 0 && coarse[last].UpTo == bound {
			coarse[last].Count += b.Count
			continue
		}
		coarse = append(coarse, bucket{bound, b.Count})
	}
	return coarse
}
