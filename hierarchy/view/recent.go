package view

import (
	"math"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
)

const (
	minute = time.Minute

	// spacing is how far apart moments are kept: the last minute is that long to within
	// so much, and takes twenty of them.
	spacing = minute / 20
)

// moment is what a wheel had counted when somebody looked at it.
type moment struct {
	at    time.Time
	fired distribution
}

// memory is the moments of the last minute, oldest first. Nothing is added to it but
// what somebody looks at, so that it takes no time in between. It is small: of a wheel
// whose lateness is of all sizes, two kilobytes a moment.
type memory []moment

// since forgets what is older than a minute, adds now, and returns what was counted
// after the oldest moment that is left, and how long that is ago. It is empty if none
// is left.
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
	if !ok { // another wheel has come in its place
		*m = memory{now}
		return nil, 0
	}
	if now.at.Sub((*m)[len(*m)-1].at) >= spacing {
		*m = append(*m, now)
	}
	return fired, now.at.Sub(oldest.at)
}

// distribution is durations as a Histogram has counted them: its buckets that are not
// empty, shortest first.
type distribution []bucket

func distributionOf(h hierarchy.Histogram) distribution {
	var d distribution
	for upTo, n := range h.Buckets() {
		d = append(d, bucket{upTo, n})
	}
	return d
}

// less is d without what was counted before. It is not ok if that is more than there is.
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

// quantile is as Histogram.Quantile, of which longest is the Max.
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
