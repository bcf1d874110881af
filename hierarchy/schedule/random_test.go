package schedule_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// rules is what a text means, as a test made it: which values each field allows. It shares nothing
// with the package but the rules of cron.
type rules struct {
	text                                      string
	second, minute, hour, day, month, weekday [60]bool
	dayStar, weekdayStar                      bool // the field begins with a *
	bothTimes                                 bool // an item of the hour is a * or has a step
}

// matches reports whether the wall clock shows a time with a run. wall is in seconds since 1970.
func (r *rules) matches(wall int64) bool {
	t := unix(wall)
	if !r.second[t.Second()] || !r.minute[t.Minute()] || !r.hour[t.Hour()] || !r.month[t.Month()] {
		return false
	}
	day, weekday := r.day[t.Day()], r.weekday[t.Weekday()]
	if r.dayStar || r.weekdayStar {
		return day && weekday
	}
	return day || weekday
}

var (
	monthNames   = strings.Fields("jan feb mar apr may jun jul aug sep oct nov dec")
	weekdayNames = strings.Fields("sun mon tue wed thu fri sat")
)

// randomRules returns rules of all kinds of items. Those of oracles have no seconds, and restrict
// the day of month or the day of week, but not both.
func randomRules(rng *rand.Rand, forOracle bool) *rules {
	r := &rules{}
	var fields []string
	field := func(values *[60]bool, min, max int, names []string, star float64) string {
		f := fieldMaker{rng, values, min, max, names}
		text := f.field(star)
		fields = append(fields, text)
		return text
	}
	if !forOracle && rng.IntN(3) == 0 {
		field(&r.second, 0, 59, nil, 0.2)
	} else {
		r.second[0] = true
	}
	field(&r.minute, 0, 59, nil, 0.1)
	r.bothTimes = strings.ContainsAny(field(&r.hour, 0, 23, nil, 0.3), "*/")
	star := 0.6
	if forOracle {
		star = float64(rng.IntN(2))
	}
	day := field(&r.day, 1, 31, nil, star)
	field(&r.month, 1, 12, monthNames, 0.7)
	if forOracle {
		star = 1
		if day == "*" {
			star = 0.5
		}
	}
	weekday := field(&r.weekday, 0, 6, weekdayNames, star)
	r.dayStar, r.weekdayStar = day[0] == '*', weekday[0] == '*'
	r.text = strings.Join(fields, " ")
	return r
}

type fieldMaker struct {
	rng      *rand.Rand
	values   *[60]bool
	min, max int
	names    []string
}

func (f *fieldMaker) field(star float64) string {
	if f.rng.Float64() < star {
		f.fill(f.min, f.max, 1)
		return "*"
	}
	items := make([]string, 1+f.rng.IntN(3))
	for i := range items {
		items[i] = f.item()
	}
	return strings.Join(items, ",")
}

func (f *fieldMaker) item() string {
	low := f.min + f.rng.IntN(f.max-f.min+1)
	high := low + f.rng.IntN(f.max-low+1)
	step := 1 + f.rng.IntN(f.max-f.min+1)
	switch f.rng.IntN(8) {
	case 0:
		f.fill(f.min, f.max, step)
		return fmt.Sprintf("*/%d", step)
	case 1:
		f.fill(low, high, 1)
		return f.name(low) + "-" + f.name(high)
	case 2:
		f.fill(low, high, step)
		return fmt.Sprintf("%s-%s/%d", f.name(low), f.name(high), step)
	case 3:
		f.fill(low, f.max, step)
		return fmt.Sprintf("%s/%d", f.name(low), step)
	}
	f.fill(low, low, 1)
	return f.name(low)
}

func (f *fieldMaker) name(v int) string {
	if f.names != nil && f.rng.IntN(2) == 0 {
		return f.names[v-f.min]
	}
	return fmt.Sprint(v)
}

func (f *fieldMaker) fill(low, high, step int) {
	for v := low; v <= high; v += step {
		f.values[v] = true
	}
}
