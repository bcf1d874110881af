package hierarchy

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"time"
)

// Aligned is a Schedule of all wall times that are offset after a multiple of period since the
// Unix epoch: with a minute and five seconds, five seconds past each full minute. Aligned
// panics if period is not positive.
//
// A day of the calendar is not always 24 hours long. For times of day in a time zone, use a
// Schedule that knows the calendar, such as those of robfig/cron.
func Aligned(period, offset time.Duration) Schedule {
	if period <= 0 {
		panic(fmt.Sprintf("hierarchy: Aligned: period %v must be positive", period))
	}
	return aligned{int64(period), floorMod(int64(offset), int64(period))}
}

// aligned has an offset from 0 to the period.
type aligned struct{ period, offset int64 }

func (a aligned) Next(t time.Time) time.Time {
	since := floorMod(a.intoPeriod(t)-a.offset, a.period) // the last time of a
	return t.Round(0).Add(time.Duration(a.period - since))
}

// intoPeriod is how long t is after a multiple of the period. The nanoseconds since the epoch
// need more than 64 bits if t is before 1678 or after 2262.
func (a aligned) intoPeriod(t time.Time) int64 {
	seconds := floorMod(t.Unix(), a.period)
	high, low := bits.Mul64(uint64(seconds), uint64(time.Second))
	whole := int64(bits.Rem64(high, low, uint64(a.period)))
	return floorMod(whole-a.period+int64(t.Nanosecond()), a.period)
}

// floorMod is n modulo m, at least 0 and less than m.
func floorMod(n, m int64) int64 {
	if n %= m; n < 0 {
		n += m
	}
	return n
}

// Jittered is a Schedule with the times of s, each later by a random delay below most, so that
// many who have the same schedule do not all run at once. Times that such a delay has overtaken
// are skipped. With a most of zero or less it is s. Jittered panics if s is nil.
func Jittered(s Schedule, most time.Duration) Schedule {
	if s == nil {
		panic("hierarchy: Jittered: schedule is nil")
	}
	if most <= 0 {
		return s
	}
	return jittered{s, most}
}

type jittered struct {
	schedule Schedule
	most     time.Duration
}

func (j jittered) Next(t time.Time) time.Time {
	next := j.schedule.Next(t)
	if next.IsZero() || next.Equal(t) { // it has ended, or does not advance
		return next
	}
	return next.Add(rand.N(j.most))
}
