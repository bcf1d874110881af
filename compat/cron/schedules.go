package cron

import (
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/schedule/calendar"
)

// Schedule determines when a job runs. Next returns the first time that is later than the given one, or the zero time
// if there is none. It is called when the job is added or the Cron is started, and then once for each run. The
// Schedules of hierarchy/schedule are Schedules, too; their rule for missed runs holds.
type Schedule interface {
	Next(time.Time) time.Time
}

// ConstantDelaySchedule is a Schedule with the same time between any two runs, of a second at least. Every makes one.
type ConstantDelaySchedule struct {
	Delay time.Duration
}

// Every returns a schedule that runs once every duration, rounded down to whole seconds, but not to less than one.
func Every(duration time.Duration) ConstantDelaySchedule {
	return ConstantDelaySchedule{max(duration.Truncate(time.Second), time.Second)}
}

// Next returns the time that is Delay after t, rounded down to a whole second. A Delay that Every would not have made
// counts as the one that it would have made.
func (schedule ConstantDelaySchedule) Next(t time.Time) time.Time {
	return t.Add(Every(schedule.Delay).Delay - time.Duration(t.Nanosecond()))
}

// SpecSchedule is a Schedule of the fields of cron. Each field is a set of values, one bit each. Its top bit is set if
// the field was written with a star: a day must be in both Dom and Dow if one of them has the star, and in one of them
// otherwise.
//
// The times are read in Location, or in the zone of the time that Next is given if Location is time.Local or nil. Next
// returns a time whose clock on the wall shows what the fields allow: a time that a change of clocks leaves out has no
// run, and one that comes twice has two, unless the Parser was made with Daylight.
type SpecSchedule struct {
	Second, Minute, Hour, Dom, Month, Dow uint64

	Location *time.Location
}

const (
	starBit     = 1 << 63 // the field was written with a star
	daylightBit = 1 << 62 // in Hour: the Parser had Daylight
	twiceBit    = 1 << 61 // in Hour, with daylightBit: times that come twice run twice
)

// Next returns the first time after t that the fields allow, in the zone of t, or the zero time if there is none within
// 100 years. That takes about a microsecond.
func (s *SpecSchedule) Next(t time.Time) time.Time {
	loc := s.Location
	if loc == time.Local || loc == nil {
		loc = t.Location()
	}
	p := s.pattern()
	if p.Second == 0 || p.Minute == 0 || p.Hour == 0 || p.Month == 0 {
		return time.Time{}
	}
	return p.Next(loc, t)
}

// pattern returns what the fields mean. Bits that stand for no value are left out.
func (s *SpecSchedule) pattern() calendar.Pattern {
	set := func(field uint64, b bounds) calendar.Set { return calendar.Set(field & all(b) &^ starBit) }
	return calendar.Pattern{
		Second: set(s.Second, seconds), Minute: set(s.Minute, minutes), Hour: set(s.Hour, hours),
		Day: set(s.Dom, dom), Month: set(s.Month, months), Weekday: set(s.Dow, dow),
		EveryDay:   (s.Dom|s.Dow)&starBit != 0,
		OnlyShown:  s.Hour&daylightBit == 0,
		EveryRound: s.Hour&twiceBit != 0,
	}
}
