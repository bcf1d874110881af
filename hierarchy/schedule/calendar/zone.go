package calendar

import (
	"math"
	"time"
)

// A zone is a time zone.
type zone struct{ *time.Location }

// spanAt returns the offset from UTC at the moment t, and a moment until which the offset certainly stays the same.
// That moment is not after the next change of the offset. Both are in seconds.
func (z zone) spanAt(t int64) (offset, end int64) {
	local := time.Unix(t, 0).In(z.Location)
	_, seconds := local.Zone()
	_, bound := local.ZoneBounds()
	if bound.IsZero() {
		return int64(seconds), math.MaxInt64
	}
	end = bound.Unix()
	if end <= t { // ZoneBounds treats all years as 365 days long, and t is in the last day of a longer one
		end += daySeconds
	}
	return int64(seconds), end
}

// settled is longer than any change of clocks. When this time has passed after a change, the clock shows times that it
// has not shown before.
const settled = 2 * daySeconds

// reached returns the wall time that the clock had reached just before the moment t: the end of the times that it had
// shown or left out. It does not use the beginnings of spans, which ZoneBounds gets wrong if a zone began to follow its
// last rule in the middle of a year.
func (z zone) reached(t int64) int64 {
	latest := int64(math.MinInt64)
	for at := t - settled; at < t; {
		offset, end := z.spanAt(at)
		at = min(end, t)
		latest = max(latest, at+offset)
	}
	return latest
}

// wallFrom returns the earliest wall time that can run at the moment t or later. If a change at t leaves times out,
// that wall time is earlier than the time that the clock shows.
//
// A wall time runs at the moment at which the clock reaches it: by showing it, or by a change to a later time. After a
// change to an earlier time the clock has to catch up first, unless EveryRound is set.
func (z zone) wallFrom(p *Pattern, t, offset int64) int64 {
	wall := t + offset
	if p.OnlyShown {
		return wall
	}
	if reached := z.reached(t); reached < wall || !p.EveryRound {
		return reached
	}
	return wall
}

// next returns the first run of p from the moment first to last, both in seconds since 1970.
func (z zone) next(p *Pattern, first, last int64) (int64, bool) {
	var from, wall int64 // wall is the first run at or after from
	for known := false; first <= last; known = true {
		offset, end := z.spanAt(first)
		w := z.wallFrom(p, first, offset)
		if !known || w < from || w > wall {
			var ok bool
			if wall, ok = p.next(w, last+settled); !ok {
				return 0, false
			}
			from = w
		}
		if at := max(wall-offset, first); at < end {
			return at, at <= last
		}
		first = end
	}
	return 0, false
}
