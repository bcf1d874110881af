package calendar

import (
	"math/bits"
	"time"
)

const daySeconds = 24 * 60 * 60

// A Set holds the values of a field, from 0 to 63, one bit each.
type Set uint64

func (s Set) has(v int) bool { return s>>v&1 != 0 }

// from returns the smallest value that is at least v. ok is false if there is none.
func (s Set) from(v int) (int, bool) {
	if s>>v == 0 {
		return 0, false
	}
	return v + bits.TrailingZeros64(uint64(s>>v)), true
}

func (s Set) first() int { return bits.TrailingZeros64(uint64(s)) }

// A Pattern determines which times of the wall clock have a run. It has no time zone: it treats a time as the number of
// seconds since 1970 that it would be in UTC.
type Pattern struct {
	Second, Minute, Hour, Month Set // none is empty
	Day, Weekday                Set

	EveryDay   bool // a day must be in Day and in Weekday; otherwise being in one of them is enough
	EveryRound bool // an hour that occurs twice on the clock has its runs both times
	OnlyShown  bool // only times that the clock shows have a run, each time: one that is left out has none
}

// next returns the first run at or after the wall time from. ok is false if it would be after last.
func (p *Pattern) next(from, last int64) (int64, bool) {
	day, time := divide(from, daySeconds)
	if t, ok := p.timeFrom(int(time)); ok && p.dayFrom(day, day) == day {
		return day*daySeconds + int64(t), day*daySeconds+int64(t) <= last
	}
	lastDay, _ := divide(last, daySeconds)
	day = p.dayFrom(day+1, lastDay)
	at := day*daySeconds + int64(p.firstTime())
	return at, day <= lastDay && at <= last
}

// timeFrom returns the first second of a day, at or after t, that has a run if the day has runs.
func (p *Pattern) timeFrom(t int) (int, bool) {
	h, m, s := t/3600, t/60%60, t%60
	hour, ok := p.Hour.from(h)
	if !ok {
		return 0, false
	}
	if hour > h {
		return hour*3600 + p.firstMinute(), true
	}
	if second, ok := p.Second.from(s); ok && p.Minute.has(m) {
		return h*3600 + m*60 + second, true
	}
	if minute, ok := p.Minute.from(m + 1); ok {
		return h*3600 + minute*60 + p.Second.first(), true
	}
	if hour, ok = p.Hour.from(h + 1); !ok {
		return 0, false
	}
	return hour*3600 + p.firstMinute(), true
}

func (p *Pattern) firstTime() int   { return p.Hour.first()*3600 + p.firstMinute() }
func (p *Pattern) firstMinute() int { return p.Minute.first()*60 + p.Second.first() }

// dayFrom returns the first day with runs from day to last, in days since 1970, or last+1.
func (p *Pattern) dayFrom(day, last int64) int64 {
	year, m, inMonth := time.Unix(day*daySeconds, 0).UTC().Date()
	for month := int(m); ; month, inMonth = month+1, 1 {
		next, ok := p.Month.from(month)
		if !ok {
			year, next = year+1, p.Month.first()
		}
		if next != month {
			month, inMonth = next, 1
		}
		start := time.Date(year, time.Month(month), 1, 0, 0, 0, 0, time.UTC)
		first := start.Unix() / daySeconds // divides without a remainder
		if first > last {
			return last + 1
		}
		if d, ok := p.daysOf(start).from(inMonth); ok {
			return min(first+int64(d)-1, last+1)
		}
	}
}

// daysOf returns the days of a month with runs; start is its first day.
func (p *Pattern) daysOf(start time.Time) Set {
	const sundays = 1 | 1<<7 | 1<<14 | 1<<21 | 1<<28 | 1<<35
	length := start.AddDate(0, 1, -1).Day()
	weekdays := p.Weekday * sundays >> start.Weekday() << 1 // bit 1 is the first day
	days := p.Day | weekdays
	if p.EveryDay {
		days = p.Day & weekdays
	}
	return days & (1<<(length+1) - 2)
}

// divide returns a/b, rounded down, and the remainder, which is not negative. b is positive.
func divide(a, b int64) (quotient, rest int64) {
	quotient, rest = a/b, a%b
	if rest < 0 {
		return quotient - 1, rest + b
	}
	return quotient, rest
}
