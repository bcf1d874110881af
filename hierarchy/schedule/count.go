package schedule

import (
	"math"
	"math/big"
	"math/bits"
	"time"
)

// Count returns the number of runs after after, up to and including until: how many were missed. The time that Count
// takes grows with the years between after and until, not with the number of runs. Like Next it looks at most 100 years
// ahead, unless the Schedule is "@every".
func (s Schedule) Count(after, until time.Time) int {
	if s == (Schedule{}) || !until.After(after) {
		return 0
	}
	p := s.parsed.Value()
	if p.every > 0 {
		return countEvery(after, until, p.every)
	}
	if outside(after) {
		return 0
	}
	if end := after.AddDate(horizon, 0, 0); until.After(end) {
		until = end
	}
	return int(min(p.loc.count(&p.cron, after.Unix()+1, until.Unix()), math.MaxInt))
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

// count returns the number of runs of p from the moment first to last.
func (l *location) count(p *pattern, first, last int64) int64 {
	n := int64(0)
	for first <= last {
		offset, end := l.spanAt(first)
		from, to := l.wallFrom(p, first, offset), min(end, last+1)+offset
		if shown := first + offset; from < shown { // wall times that were left out run once, now
			if _, ok := p.next(from, shown); ok {
				n++
			}
			from = shown + 1
		}
		n += p.count(from, to)
		first = end
	}
	return n
}

// count returns the number of wall times with runs from from until before to.
func (p *pattern) count(from, to int64) int64 {
	if from >= to {
		return 0
	}
	first, morning := divide(from, daySeconds)
	last, evening := divide(to, daySeconds)
	n := p.countDays(first, last) * p.countTimes(daySeconds)
	if p.dayFrom(first, first) == first {
		n -= p.countTimes(int(morning))
	}
	if p.dayFrom(last, last) == last {
		n += p.countTimes(int(evening))
	}
	return n
}

// countDays returns the number of days with runs from first until before end.
func (p *pattern) countDays(first, end int64) int64 {
	n := int64(0)
	for day := first; day < end; {
		year, month, inMonth := time.Unix(day*daySeconds, 0).UTC().Date()
		start := time.Date(year, month, 1, 0, 0, 0, 0, time.UTC)
		next := start.AddDate(0, 1, 0).Unix() / daySeconds // divides without a remainder
		if p.month.has(int(month)) {
			days := p.daysOf(start) >> inMonth
			n += (days & (1<<(min(end, next)-day) - 1)).len()
		}
		day = next
	}
	return n
}

// countTimes returns the number of runs before the second t of a day with runs.
func (p *pattern) countTimes(t int) int64 {
	h, m, s := t/3600, t/60%60, t%60
	n := p.hour.below(h).len() * p.minute.len() * p.second.len()
	if !p.hour.has(h) {
		return n
	}
	n += p.minute.below(m).len() * p.second.len()
	if p.minute.has(m) {
		n += p.second.below(s).len()
	}
	return n
}

func (s set) len() int64      { return int64(bits.OnesCount64(uint64(s))) }
func (s set) below(v int) set { return s & (1<<v - 1) }
