package schedule

import (
	"fmt"
	"time"
	"unique"
)

const (
	horizon = 100       // the number of years that Next looks ahead
	maxYear = 1_000_000 // fields have no runs more than about that many years before or after 1970
)

// Schedule determines when something runs again and again. Parse makes one. The zero Schedule means none: it has no
// runs. Schedules are comparable: two are equal if String returns the same for both. Copies share the parsed form, so
// each takes one word. They may be used concurrently.
type Schedule struct {
	parsed unique.Handle[parsed] // the zero Handle in the zero Schedule
}

// parsed is the parsed form of a Schedule. It is comparable, and equal texts result in equal values.
type parsed struct {
	text   string // the canonical text, without the rule for missed runs and the zone
	zone   string // as in the text; "" if there is none
	loc    *location
	missed Missed
	every  time.Duration // if it is not 0, cron is not used
	cron   pattern
}

// Next returns the first run after after, in the time zone of after. It returns the zero time if there is none within
// 100 years. For "@every" the result is after plus the period, so a caller should pass the time at which a run was due,
// rather than the time at which it ended, in order to keep the period without drift. All other runs are on whole
// seconds. Next takes about a microsecond.
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

// outside reports whether t is beyond maxYear. It can't use Time.Year, whose int may have 32 bits.
func outside(t time.Time) bool {
	const most = maxYear * 365 * daySeconds
	return t.Unix() < -most || t.Unix() > most
}

// later returns t plus d without a reading of the monotonic clock, or the zero time on overflow.
func later(t time.Time, d time.Duration) time.Time {
	t = t.Round(0)
	sum := t.Add(d)
	if !sum.After(t) {
		return time.Time{}
	}
	return sum
}

// String returns a text that Parse parses to an equal Schedule. Words are separated by single spaces. The zone comes
// first, as CRON_TZ=, then the rule for missed runs, as MISSED=, unless it is MissedOnce. Everything else is as it was
// written. The text of the zero Schedule is empty, which Parse refuses.
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

// OnMissed returns the same schedule with another rule for missed runs. For the zero Schedule it returns the zero
// Schedule. It panics if m is not one of the constants.
func (s Schedule) OnMissed(m Missed) Schedule {
	if !valid(m) {
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

// UnmarshalText parses text as Parse does, but accepts an empty text as the zero Schedule.
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
