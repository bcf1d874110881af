// Package calendar calculates when the fields of cron are due in a time zone: the arithmetic that hierarchy/schedule and
// compat/cron share. It exists for these two alone, and knows nothing of texts, timers and the current time.
package calendar

import (
	"math"
	"time"
)

const (
	horizon = 100       // the number of years that Next and Count look ahead
	maxYear = 1_000_000 // there are no runs more than about that many years before or after 1970
)

// Next returns the first run in loc after after, in the time zone of after, or the zero time if there is none within
// 100 years.
func (p *Pattern) Next(loc *time.Location, after time.Time) time.Time {
	if outside(after) {
		return time.Time{}
	}
	first, last := after.Unix()+1, after.AddDate(horizon, 0, 0).Unix()
	at, ok := zone{loc}.next(p, first, last)
	if !ok {
		return time.Time{}
	}
	return time.Unix(at, 0).In(after.Location())
}

// Count returns the number of runs in loc after after, up to and including until, within 100 years.
func (p *Pattern) Count(loc *time.Location, after, until time.Time) int {
	if outside(after) {
		return 0
	}
	if end := after.AddDate(horizon, 0, 0); until.After(end) {
		until = end
	}
	return int(min(zone{loc}.count(p, after.Unix()+1, until.Unix()), math.MaxInt))
}

// outside reports whether t is beyond maxYear. It can't use Time.Year, whose int may have 32 bits.
func outside(t time.Time) bool {
	const most = maxYear * 365 * daySeconds
	return t.Unix() < -most || t.Unix() > most
}
