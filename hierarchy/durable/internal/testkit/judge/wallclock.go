package judge

import (
	"math"
	"slices"
)

// setting is one setting of a worker's wall clock. It took effect at some time between from and to.
type setting struct{ offset, from, to int64 }

// wallClock has the known settings of a worker's wall clock, in order. There is one from the beginning on.
type wallClock []setting

// until returns when a setting had certainly ended.
func (c wallClock) until(i int) int64 {
	if i+1 < len(c) {
		return c[i+1].to
	}
	return math.MaxInt64
}

// between returns the offsets that the clock may have had at some time between the two, ascending.
func (c wallClock) between(from, to int64) (all []int64) {
	for i, s := range c {
		if (s.from <= to || i == 0) && c.until(i) >= from {
			all = append(all, s.offset)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// lastShown returns the last time between from and to at which the clock may have shown a wall time, or a later one.
func (c wallClock) lastShown(wall, zero, from, to int64) (at int64, ok bool) {
	for i, s := range slices.Backward(c) {
		if s.from > to && i > 0 {
			continue
		}
		if at = min(to, c.until(i)); at < from {
			break
		}
		if zero+at+s.offset >= wall {
			return at, true
		}
	}
	return 0, false
}

// lastSet returns when the clock was last set before a time, or 0.
func (c wallClock) lastSet(before int64) (at int64) {
	for _, s := range c[1:] {
		if s.from < before {
			at = s.to
		}
	}
	return at
}
