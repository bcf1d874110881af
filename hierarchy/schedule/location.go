package schedule

import (
	"math"
	"sync"
	"time"
	_ "time/tzdata" // a machine without time zones must be able to run schedules that another machine has set
)

// A location is a time zone. There is one for each name, so pointers are equal if and only if names are.
type location struct{ zone *time.Location }

var (
	utc       = &location{time.UTC}
	locations sync.Map // from names to *location; at most one for each zone
)

// locationNamed returns the zone of that name.
func locationNamed(name string) (*location, error) {
	if name == "UTC" {
		return utc, nil
	}
	if known, ok := locations.Load(name); ok {
		return known.(*location), nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, err
	}
	one, _ := locations.LoadOrStore(name, &location{zone})
	return one.(*location), nil
}

// spanAt returns the offset from UTC at the moment t, and a moment until which the offset certainly stays the same.
// That moment is not after the next change of the offset. Both are in seconds.
func (l *location) spanAt(t int64) (offset, end int64) {
	local := time.Unix(t, 0).In(l.zone)
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
func (l *location) reached(t int64) int64 {
	latest := int64(math.MinInt64)
	for at := t - settled; at < t; {
		offset, end := l.spanAt(at)
		at = min(end, t)
		latest = max(latest, at+offset)
	}
	return latest
}

// wallFrom returns the earliest wall time that can run at the moment t or later. If a change at t leaves times out,
// that wall time is earlier than the time that the clock shows.
//
// A wall time runs at the moment at which the clock reaches it: by showing it, or by a change to a later time. After a
// change to an earlier time the clock has to catch up first, unless everyRound is set.
func (l *location) wallFrom(p *pattern, t, offset int64) int64 {
	wall := t + offset
	if reached := l.reached(t); reached < wall || !p.everyRound {
		return reached
	}
	return wall
}

// next returns the first run of p from the moment first to last, both in seconds since 1970.
func (l *location) next(p *pattern, first, last int64) (int64, bool) {
	var from, wall int64 // wall is the first run at or after from
	for known := false; first <= last; known = true {
		offset, end := l.spanAt(first)
		w := l.wallFrom(p, first, offset)
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
