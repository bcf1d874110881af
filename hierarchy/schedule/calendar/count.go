package calendar

import (
	"math/bits"
	"time"
)

// count returns the number of runs of p from the moment first to last.
func (z zone) count(p *Pattern, first, last int64) int64 {
	n := int64(0)
	for first <= last {
		offset, end := z.spanAt(first)
		from, to := z.wallFrom(p, first, offset), min(end, last+1)+offset
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
func (p *Pattern) count(from, to int64) int64 {
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
func (p *Pattern) countDays(first, end int64) int64 {
	n := int64(0)
	for day := first; day < end; {
		year, month, inMonth := time.Unix(day*daySeconds, 0).UTC().Date()
		start := time.Date(year, month, 1, 0, 0, 0, 0, time.UTC)
		next := start.AddDate(0, 1, 0).Unix() / daySeconds // divides without a remainder
		if p.Month.has(int(month)) {
			days := p.daysOf(start) >> inMonth
			n += (days & (1<<(min(end, next)-day) - 1)).len()
		}
		day = next
	}
	return n
}

// countTimes returns the number of runs before the second t of a day with runs.
func (p *Pattern) countTimes(t int) int64 {
	h, m, s := t/3600, t/60%60, t%60
	n := p.Hour.below(h).len() * p.Minute.len() * p.Second.len()
	if !p.Hour.has(h) {
		return n
	}
	n += p.Minute.below(m).len() * p.Second.len()
	if p.Minute.has(m) {
		n += p.Second.below(s).len()
	}
	return n
}

func (s Set) len() int64      { return int64(bits.OnesCount64(uint64(s))) }
func (s Set) below(v int) Set { return s & (1<<v - 1) }
