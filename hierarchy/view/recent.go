package view

import (
	"math"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
)

const (
	// recentWindow is the length of the time whose durations are recent.
	recentWindow = time.Minute

	// spacing is the least time between two samples that are kept. So the window may be shorter by up to spacing, and
	// has at most twenty-one samples.
	spacing = recentWindow / 20
)

// sample is the state of a wheel's Histogram at some time.
type sample struct {
	at  time.Time
	all distribution
}

// samples has samples of the last minute, oldest first. A sample is added only when a snapshot is taken, so samples
// cost nothing in between. Samples are small: one takes two kilobytes for a wheel whose lateness is of all sizes.
type samples []sample

// since removes samples older than a minute, and adds now. It returns the distribution of the durations counted since
// the oldest sample that is left, and the age of that sample. If no sample is left, both results are zero.
func (s *samples) since(now sample) (distribution, time.Duration) {
	for len(*s) > 0 && now.at.Sub((*s)[0].at) > recentWindow {
		*s = (*s)[1:]
	}
	if len(*s) == 0 {
		*s = samples{now}
		return nil, 0
	}
	oldest := (*s)[0]
	recent, ok := now.all.minus(oldest.all)
	if !ok { // the Source now returns the figures of another wheel
		*s = samples{now}
		return nil, 0
	}
	if now.at.Sub((*s)[len(*s)-1].at) >= spacing {
		*s = append(*s, now)
	}
	return recent, now.at.Sub(oldest.at)
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

// minus returns d minus before. ok is false if a bucket of before has more durations than the same bucket of d.
func (d distribution) minus(before distribution) (rest distribution, ok bool) {
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
