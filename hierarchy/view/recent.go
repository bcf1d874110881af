package view

import (
	"math"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
)

const (
	minute = time.Minute

	// spacing is the least time between two moments that are kept. The last minute may be
	// shorter by that much, and it takes twenty moments.
	spacing = minute / 20
)

// moment is the lateness that a wheel had counted at one time.
type moment struct {
	at    time.Time
	fired distribution
}

// memory has moments of the last minute, oldest first. Moments are added only when a
// snapshot is taken, so it costs nothing in between. It is small: a moment takes two
// kilobytes for a wheel whose lateness is of all sizes.
type memory []moment

// since removes moments older than a minute, adds now, and returns what was counted since
// the oldest moment that is left, and how long ago that was. If no moment is left, both are
// zero.
func (m *memory) since(now moment) (distribution, time.Duration) {
	for len(*m) > 0 && now.at.Sub((*m)[0].at) > minute {
		*m = (*m)[1:]
	}
	if len(*m) == 0 {
		*m = memory{now}
		return nil, 0
	}
	oldest := (*m)[0]
	fired, ok := now.fired.less(oldest.fired)
	if !ok { // the Source now returns the figures of another wheel
		*m = memory{now}
		return nil, 0
	}
	if now.at.Sub((*m)[len(*m)-1].at) >= spacing {
		*m = append(*m, now)
	}
	return fired, now.at.Sub(oldest.at)
}

// distribution has the buckets of a Histogram that are not empty, shortest first.
type distribution []bucket

func distributionOf(h hierarchy.Histogram) distribution {
	var d distribution
	for upTo, n := range h.Buckets() {
		d = append(d, bucket{upTo, n})
	}
	return d
}

// less returns d minus before. ok is false if before has more in a bucket than d.
func (d distribution) less(before distribution) (rest distribution, ok bool) {
	for _, b := range d {
		if len(before) > 0 && before[0].UpTo == b.UpTo {
			if before[0].Count > b.Count {
				return nil, false
			}
			b.Count -= before[0].Count
			before = before[1:]
		}
		if b.Count > 0 {
			rest = append(rest, b)
		}
	}
	return rest, len(before) == 0
}

func (d distribution) count() (n uint64) {
	for _, b := range d {
		n += b.Count
	}
	return n
}

// quantile does what Histogram.Quantile does. longest is the Max of the Histogram.
func (d distribution) quantile(q float64, longest time.Duration) time.Duration {
	rank := max(1, uint64(math.Ceil(q*float64(d.count()))))
	seen := uint64(0)
	for _, b := range d {
		if seen += b.Count; seen >= rank {
			return min(b.UpTo, longest)
		}
	}
	return 0
}
