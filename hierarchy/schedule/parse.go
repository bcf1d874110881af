package schedule

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unique"
)

const (
	// MaxText is the longest text that Parse accepts, in bytes, after the settings: the zone, the rule, the delay and the times.
	MaxText = 1024
	// maxSettings is the most bytes for these. So String never returns a text that is too long.
	maxSettings = 256

	zoneKey   = "CRON_TZ="
	missedKey = "MISSED="
	spreadKey = "SPREAD="
	fromKey   = "FROM="
	untilKey  = "UNTIL="
	every     = "@every"

	minEvery = time.Millisecond // the wheel's own precision
)

// shorthands has the patterns for the names of common schedules.
var shorthands = map[string]string{
	"@yearly":   "0 0 1 1 *",
	"@annually": "0 0 1 1 *",
	"@monthly":  "0 0 1 * *",
	"@weekly":   "0 0 * * 0",
	"@daily":    "0 0 * * *",
	"@midnight": "0 0 * * *",
	"@hourly":   "0 * * * *",
}

// Parse parses a schedule, whose syntax the package's comment describes. An error names the field and the column,
// counted in bytes from 1, and wraps hierarchy.ErrArgument.
func Parse(text string) (Schedule, error) {
	if len(text) > maxSettings+MaxText {
		return Schedule{}, tooLong(text, len(text), maxSettings+MaxText)
	}
	p, err := parse(text)
	switch {
	case err != nil:
		err.text = text
		return Schedule{}, err
	case len(p.text) > MaxText:
		return Schedule{}, tooLong(text, len(p.text), MaxText)
	}
	return Schedule{unique.Make(p)}, nil
}

func tooLong(text string, n, most int) *textError {
	return &textError{text: text[:20] + "…", problem: fmt.Sprintf("%d bytes are more than %d", n, most)}
}

// MustParse is Parse for a text that is known to be right, such as a constant. It panics with Parse's error otherwise.
func MustParse(text string) Schedule {
	s, err := Parse(text)
	if err != nil {
		panic(err)
	}
	return s
}

func parse(text string) (parsed, *textError) {
	p := parsed{loc: time.UTC}
	words, err := p.parseSettings(split(text))
	if err != nil {
		return p, err
	}
	if len(words) == 0 {
		return p, &textError{problem: `it has no times, such as "@daily" or "30 2 * * *"`}
	}
	first := words[0]
	p.text = strings.Join(strings.Fields(text[first.at:]), " ")
	switch pattern, short := shorthands[first.text]; {
	case first.text == every:
		p.zone, p.loc, p.spread = "", time.UTC, 0 // they make no difference
		p.every, err = parseEvery(first, words[1:])
	case short && len(words) == 1:
		p.cron, err = parseFields(split(pattern))
	case short:
		err = words[1].wrong("", "nothing may follow "+first.text)
	case first.text[0] == '@':
		err = first.wrong("", "unknown name "+first.quoted()+": there are "+every+", "+
			strings.Join(slices.Sorted(maps.Keys(shorthands)), ", "))
	default:
		p.cron, err = parseFields(words)
	}
	return p, err
}

// parseSettings parses the words that set a zone, a rule, a delay or a time, and returns the words that follow.
func (p *parsed) parseSettings(words []word) ([]word, *textError) {
	set := map[string]bool{}
	for len(words) > 0 {
		w := words[0]
		key, value, _ := strings.Cut(w.text, "=")
		name := settings[key+"="]
		if name == "" {
			break
		}
		if set[name] {
			return nil, w.wrong(name, "it is set twice")
		}
		set[name] = true
		if err := p.parseSetting(name, value, w); err != nil {
			return nil, err
		}
		words = words[1:]
	}
	return words, nil
}

const (
	zoneName   = "zone"
	missedName = "rule for missed runs"
	spreadName = "delay"
	fromName   = "first time"
	untilName  = "last time"
)

// settings has the names of the settings, by the beginning of their words.
var settings = map[string]string{zoneKey: zoneName, "TZ=": zoneName, missedKey: missedName, spreadKey: spreadName,
	fromKey: fromName, untilKey: untilName}

func (p *parsed) parseSetting(name, value string, w word) (err *textError) {
	switch name {
	case zoneName:
		p.zone = value
		p.loc, err = parseZone(w, value)
	case missedName:
		m, ok := missedNamed(value)
		if !ok {
			return w.wrong(name, w.quoted()+" is none of "+missedKey+"once, skip and all")
		}
		p.missed = m
	case spreadName:
		d, failed := time.ParseDuration(value)
		if failed != nil || d < time.Second || d > MaxSpread || d%time.Second != 0 {
			return w.wrong(name, w.quoted()+" is none in whole seconds, of at most "+MaxSpread.String())
		}
		p.spread = d
	case fromName:
		p.from, err = parseTime(name, value, w)
	case untilName:
		p.until, err = parseTime(name, value, w)
	}
	return err
}

func parseTime(name, value string, w word) (time.Time, *textError) {
	t, failed := time.Parse(time.RFC3339Nano, value)
	if failed != nil || !writable(t) {
		return t, w.wrong(name, w.quoted()+" is none such as 2030-01-31T12:00:00Z")
	}
	return t.UTC(), nil
}

func parseZone(w word, name string) (*time.Location, *textError) {
	switch name {
	case "":
		return nil, w.wrong(zoneName, "its name is missing")
	case "Local":
		return nil, w.wrong(zoneName, "Local is another zone on each machine: name one, such as Europe/Berlin")
	}
	loc, err := locationNamed(name)
	if err != nil {
		problem := w.wrong(zoneName, "this process does not know it")
		problem.cause = err
		return nil, problem
	}
	return loc, nil
}

func parseEvery(name word, rest []word) (time.Duration, *textError) {
	if len(rest) != 1 {
		return 0, name.wrong("period", `one period must follow @every, such as "90s" or "1h30m"`)
	}
	d, err := time.ParseDuration(rest[0].text)
	switch {
	case err != nil:
		return 0, rest[0].wrong("period", rest[0].quoted()+` is none, such as "90s" or "1h30m"`)
	case d < minEvery:
		return 0, rest[0].wrong("period", rest[0].quoted()+" is shorter than "+minEvery.String())
	}
	return d, nil
}
