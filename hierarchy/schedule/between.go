package schedule

import (
	"fmt"
	"time"
	"unique"
)

// Between returns the schedule with those runs of s that are neither before from nor after until. Either may be the zero
// time, which is no limit. The runs of "@every" begin at from: the first one is at that time. With a delay by Spread, it is
// the delayed runs that count.
//
// The result is a Schedule like any other: it is comparable, and String writes the times as FROM= and UNTIL=, which
// Parse reads. Times that s has already are replaced. Between panics if a year is not between 1 and 9999.
func Between(s Schedule, from, until time.Time) Schedule {
	for _, t := range []time.Time{from, until} {
		if !t.IsZero() && !writable(t) {
			panic(fmt.Sprintf("schedule: Between: the text of a schedule can't have the time %v", t))
		}
	}
	if s == (Schedule{}) {
		return s
	}
	p := s.parsed.Value()
	p.from, p.until = canonical(from), canonical(until)
	return Schedule{unique.Make(p)}
}

// Bounds returns the times of Between. They are zero if there are none.
func (s Schedule) Bounds() (from, until time.Time) {
	if s == (Schedule{}) {
		return from, until
	}
	p := s.parsed.Value()
	return p.from, p.until
}

// Every returns the period of "@every", and 0 for other schedules.
func (s Schedule) Every() time.Duration {
	if s == (Schedule{}) {
		return 0
	}
	return s.parsed.Value().every
}

// canonical returns the same time in a form in which equal times are equal values.
func canonical(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.Round(0).UTC()
}

// writable reports whether the text of a schedule can have a time.
func writable(t time.Time) bool {
	year := t.UTC().Year()
	return !t.IsZero() && 1 <= year && year <= 9999
}
