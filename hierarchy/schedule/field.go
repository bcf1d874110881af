package schedule

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/epicycle-go/epicycle/hierarchy/schedule/calendar"
)

const sunday = 7 // the second number of Sunday; the first one is 0

// A field is one of the six fields of a pattern.
type field struct {
	name     string
	min, max int
	names    []string // the names of the values from min on; nil if the values have no names
}

var (
	seconds  = field{"second", 0, 59, nil}
	minutes  = field{"minute", 0, 59, nil}
	hours    = field{"hour", 0, 23, nil}
	days     = field{"day of month", 1, 31, nil}
	months   = field{"month", 1, 12, []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}}
	weekdays = field{"day of week", 0, 6, []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}}
)

// parseFields parses five fields, or six with the second first.
func parseFields(words []word) (calendar.Pattern, *textError) {
	var p calendar.Pattern
	if len(words) == 5 {
		words = append([]word{{"0", 0}}, words...)
	}
	if len(words) != 6 {
		return p, &textError{problem: fmt.Sprintf("it has %d fields: there must be five "+
			"(minute, hour, day of month, month, day of week), or six with the second first", len(words))}
	}
	into := [6]*calendar.Set{&p.Second, &p.Minute, &p.Hour, &p.Day, &p.Month, &p.Weekday}
	for i, f := range [6]*field{&seconds, &minutes, &hours, &days, &months, &weekdays} {
		values, err := f.parse(words[i])
		if err != nil {
			return p, err
		}
		*into[i] = values
	}
	p.EveryRound = strings.ContainsAny(words[2].text, "*?/")
	p.EveryDay = strings.ContainsAny(words[3].text[:1]+words[5].text[:1], "*?")
	return p, nil
}

// parse returns the values of w. There is at least one.
func (f *field) parse(w word) (calendar.Set, *textError) {
	var values calendar.Set
	for more := true; more; {
		var item word
		item, w, more = w.cut(",")
		s, err := f.parseItem(item)
		if err != nil {
			return 0, err
		}
		values |= s
	}
	return values, nil
}

// parseItem returns the values of "*", a number, a range, or one of these with a step.
func (f *field) parseItem(item word) (calendar.Set, *textError) {
	of, by, stepped := item.cut("/")
	low, high, err := f.parseRange(of, stepped)
	if err != nil {
		return 0, err
	}
	step := 1
	if stepped {
		if step, err = f.parseStep(by); err != nil {
			return 0, err
		}
	}
	var values calendar.Set
	for v := low; v <= high; v += step {
		values |= 1 << f.wrap(v)
	}
	return values, nil
}

// parseRange returns the first and the last value of w. With a step, a single number is the first value of a range
// that goes to the end.
func (f *field) parseRange(w word, stepped bool) (low, high int, err *textError) {
	if w.text == "*" || w.text == "?" {
		return f.min, f.max, nil
	}
	from, to, isRange := w.cut("-")
	if low, err = f.parseValue(from); err != nil {
		return 0, 0, err
	}
	switch {
	case isRange:
		if high, err = f.parseValue(to); err != nil {
			return 0, 0, err
		}
		if low > high && f == &weekdays && f.wrap(high) == 0 { // fri-sun
			high = sunday
		}
		if low > high {
			return 0, 0, f.wrong(w, w.quoted()+" ends before it begins")
		}
		return low, high, nil
	case stepped:
		return low, max(low, f.max), nil
	}
	return low, low, nil
}

// parseValue returns the number or the number of the name in w. For a day of the week it may be 7.
func (f *field) parseValue(w word) (int, *textError) {
	if i := slices.Index(f.names, strings.ToLower(w.text)); i >= 0 {
		return f.min + i, nil
	}
	v, err := f.parseNumber(w)
	if err != nil {
		return 0, err
	}
	if v < f.min || f.wrap(v) > f.max {
		return 0, f.wrong(w, fmt.Sprintf("%d is not in the range %d-%d", v, f.min, f.last()))
	}
	return v, nil
}

func (f *field) parseStep(w word) (int, *textError) {
	step, err := f.parseNumber(w)
	if err != nil {
		return 0, err
	}
	if all := f.max - f.min + 1; step < 1 || step > all {
		return 0, f.wrong(w, fmt.Sprintf("the step %d is not in the range 1-%d", step, all))
	}
	return step, nil
}

func (f *field) parseNumber(w word) (int, *textError) {
	if w.text == "" {
		return 0, f.wrong(w, "a number is missing")
	}
	v, err := strconv.ParseUint(w.text, 10, 16)
	if err != nil {
		problem := w.quoted() + " is no number"
		if len(f.names) > 0 {
			problem += " and no name, such as " + f.names[1]
		}
		return 0, f.wrong(w, problem)
	}
	return int(v), nil
}

// wrap returns v, or 0 for the second number of Sunday.
func (f *field) wrap(v int) int {
	if f == &weekdays && v == sunday {
		return 0
	}
	return v
}

// last returns the greatest number that may be written.
func (f *field) last() int {
	if f == &weekdays {
		return sunday
	}
	return f.max
}

func (f *field) wrong(w word, problem string) *textError { return w.wrong(f.name, problem) }
