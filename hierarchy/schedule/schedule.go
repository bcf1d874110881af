package schedule

import (
	"fmt"
	"math"
	"math/big"
	"time"
	"unique"

	"github.com/epicycle-go/epicycle/hierarchy/schedule/calendar"
)

// Schedule determines when something runs again and again. Parse makes one. The zero Schedule means none: it has no
// runs. Schedules are comparable: two are equal if String returns the same for both. Copies share the parsed form, so
// each takes one word. They may be used concurrently.
type Schedule struct {
	parsed unique.Handle[parsed] // the zero Handle in the zero Schedule
}

// parsed is the parsed form of a Schedule. It is comparable, and equal texts result in equal values.
type parsed struct {
	text   string // the canonical text, without settings
	zone   string // as in the text; "" if there is none
	loc    *time.Location
	missed Missed
	spread time.Duration // by which each run of cron is later, in whole seconds
	from   time.Time     // no run is before it, unless it is zero; in UTC
	until  time.Time     // no run is after it, unless it is zero; in UTC
	every  time.Duration // if it is not 0, cron is not used
	cron   calendar.Pattern
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
	next := p.next(after)
	if !p.until.IsZero() && next.After(p.until) {
		return time.Time{}
	}
	return next
}

// next is Next without until.
func (p *parsed) next(after time.Time) time.Time {
	switch early := p.isEarly(after); {
	case p.every > 0 && early:
		return p.from.In(after.Location())
	case p.every > 0:
		return later(after, p.every)
	case early:
		after = p.from.Add(-1).In(after.Location())
	}
	next := p.cron.Next(p.loc, after.Add(-p.spread))
	if next.IsZero() {
		return next
	}
	return next.Add(p.spread)
}

// isEarly reports whether a time is before the first at which there may be a run.
func (p *parsed) isEarly(t time.Time) bool { return !p.from.IsZero() && t.Before(p.from) }

// later returns t plus d without a reading of the monotonic clock, or the zero time on overflow.
func later(t time.Time, d time.Duration) time.Time {
	t = t.Round(0)
	sum := t.Add(d)
	if !sum.After(t) {
		return time.Time{}
	}
	return sum
}

// Count returns the number of runs after after, up to and including until: how many were missed. The time that Count
// takes grows with the years between after and until, not with the number of runs. Like Next it looks at most 100 years
// ahead, unless the Schedule is "@every".
func (s Schedule) Count(after, until time.Time) int {
	if s == (Schedule{}) || !until.After(after) {
		return 0
	}
	p := s.parsed.Value()
	if !p.until.IsZero() && until.After(p.until) {
		until = p.until
	}
	if p.isEarly(until) || !until.After(after) {
		return 0
	}
	switch early := p.isEarly(after); {
	case p.every > 0 && early:
		return 1 + min(countEvery(p.from, until, p.every), math.MaxInt-1)
	case p.every > 0:
		return countEvery(after, until, p.every)
	case early:
		after = p.from.Add(-1)
	}
	return p.cron.Count(p.loc, after.Add(-p.spread), until.Add(-p.spread))
}

// countEvery counts without time.Time.Sub, whose results are limited to 292 years.
func countEvery(after, until time.Time, every time.Duration) int {
	seconds := new(big.Int).Sub(big.NewInt(until.Unix()), big.NewInt(after.Unix()))
	span := seconds.Mul(seconds, big.NewInt(int64(time.Second)))
	span.Add(span, big.NewInt(int64(until.Nanosecond()-after.Nanosecond())))
	n := span.Quo(span, big.NewInt(int64(every)))
	if !n.IsInt64() {
		return math.MaxInt
	}
	return int(min(n.Int64(), math.MaxInt))
}

// String returns a text that Parse parses to an equal Schedule. Words are separated by single spaces. The zone comes
// first, as CRON_TZ=, then the rule for missed runs, as MISSED=, unless it is MissedOnce, then the times of Between, as FROM=
// and UNTIL=, then the delay by Spread, as SPREAD=. Everything else is as it was written. The text of the zero Schedule is empty, which Parse refuses.
func (s Schedule) String() string {
	if s == (Schedule{}) {
		return ""
	}
	p := s.parsed.Value()
	text := p.text
	if p.spread > 0 {
		text = spreadKey + p.spread.String() + " " + text
	}
	if !p.until.IsZero() {
		text = untilKey + p.until.Format(time.RFC3339Nano) + " " + text
	}
	if !p.from.IsZero() {
		text = fromKey + p.from.Format(time.RFC3339Nano) + " " + text
	}
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
