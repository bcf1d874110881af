package schedule

import (
	"fmt"
	"time"
	"unique"
)

const (
	horizon = 100       // how many years ahead Next looks
	maxYear = 1_000_000 // about so many years before and after 1970 fields have no runs
)

// Schedule is when something runs again and again. Parse makes one. The zero Schedule is none: it
// has no runs. Schedules are comparable: two are equal if String returns the same for both. Copies
// share what they were parsed into, so each takes one word. They may be used concurrently.
type Schedule struct {
	parsed unique.Handle[parsed] // the zero Handle in the zero Schedule
}

// parsed is a Schedule in full. It is comparable, and equal texts make equal values.
type parsed struct {
	text   string // the canonical one, without the rule for missed runs and the zone
	zone   string // as the text names it, "" without
	loc    *location
	missed Missed
	every  time.Duration // if it is not 0, the pattern means nothing
	cron   pattern
}

// Next returns the first run that is later than after, in the time zone of after. It returns the zero
// time if there is none within 100 years. For "@every" this is after plus the period, so a caller
// that passes the time at which a run was due, rather than the time at which it ended, keeps the
// period without drift. All other runs are on whole seconds. Next takes a microsecond or so.
func (s Schedule) Next(after time.Time) time.Time {
	if s == (Schedule{}) {
		return time.Time{}
	}
	p := s.parsed.Value()
	if p.every > 0 {
		return later(after, p.every)
	}
	if outside(after) {
		return time.Time{}
	}
	first, last := after.Unix()+1, after.AddDate(horizon, 0, 0).Unix()
	at, ok := p.loc.next(&p.cron, first, last)
	if !ok {
		return time.Time{}
	}
	return time.Unix(at, 0).In(after.Location())
}

// outside reports whether t is beyond maxYear. Time.Year is of no use: its int may have 32 bits.
func outside(t time.Time) bool {
	const most = maxYear * 365 * daySeconds
	return t.Unix() < -most || t.Unix() > most
}

// later returns t plus d without a reading of the monotonic clock, or the zero time where times end.
func later(t time.Time, d time.Duration) time.Time {
	t = t.Round(0)
	sum := t.Add(d)
	if !sum.After(t) {
		return time.Time{}
	}
	return sum
}

// String returns a text of which Parse makes an equal Schedule. Spaces are single ones, the zone
// comes first, as CRON_TZ=, then the rule for missed runs, as MISSED=, unless it is MissedOnce. All
// else is as it was written. The text of the zero Schedule is empty, and Parse refuses that.
func (s Schedule) String() string {
	if s == (Schedule{}) {
		return ""
	}
	p := s.parsed.Value()
	text := p.text
	if p.missed != MissedOnce {
		text = missedKey + p.missed.String() + " " + text
	}
	if p.zone != "" {
		text = zoneKey + p.zone + " " + text
	}
	return text
}

// OnMissed returns the same schedule with another rule for missed runs. That of the zero Schedule is
// the zero Schedule. It panics if m is not one of the constants.
func (s Schedule) OnMissed(m Missed) Schedule {
	if !m.valid() {
		panic(fmt.Sprintf("schedule: no rule for missed runs has the number %d", int(m)))
	}
	if s == (Schedule{}) {
		return s
	}
	p := s.parsed.Value()
	p.missed = m
	return Schedule{unique.Make(p)}
}

// Missed returns the rule for missed runs, which is MissedOnce unless OnMissed or the text has
// set another one.
func (s Schedule) Missed() Missed {
	if s == (Schedule{}) {
		return MissedOnce
	}
	return s.parsed.Value().missed
}

// MarshalText returns what String returns.
func (s Schedule) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText is Parse, except that it makes the zero Schedule of an empty text.
func (s *Schedule) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*s = Schedule{}
		return nil
	}
	parsed, err := Parse(string(text))
	if err == nil {
		*s = parsed
	}
	return err
}
