package cron

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
)

// ParseOption says which fields and features a Parser accepts. The order of the fields is always the one below. A field
// that is not included has its default value.
type ParseOption int

const (
	Second         ParseOption = 1 << iota // seconds, default 0
	SecondOptional                         // seconds, may be left out, default 0
	Minute                                 // minutes, default 0
	Hour                                   // hours, default 0
	Dom                                    // day of the month, default *
	Month                                  // month, default *
	Dow                                    // day of the week, default *
	DowOptional                            // day of the week, may be left out, default *
	Descriptor                             // names such as @daily and @every 90s

	// Daylight makes a time that a change of clocks leaves out run once, at the moment of the change, and a time that
	// comes twice run only the first time, unless an item of the hours is a * or has a step. These are the rules of
	// hierarchy/schedule. robfig/cron has no such option.
	Daylight
)

var (
	places   = []ParseOption{Second, Minute, Hour, Dom, Month, Dow}
	defaults = []string{"0", "0", "0", "*", "*", "*"}
)

// A Parser makes Schedules of texts. NewParser makes one.
type Parser struct {
	options ParseOption
}

// NewParser returns a Parser with these options. It panics if both fields that can be optional are, since then nobody
// could say which one was left out.
func NewParser(options ParseOption) Parser {
	if options&DowOptional != 0 && options&SecondOptional != 0 {
		panic("cron: multiple optionals may not be configured")
	}
	return Parser{options}
}

var standardParser = NewParser(Minute | Hour | Dom | Month | Dow | Descriptor)

// ParseStandard parses the five fields minute, hour, day of month, month and day of week, or a descriptor such as
// "@midnight" or "@every 1h30m".
func ParseStandard(standardSpec string) (Schedule, error) {
	return standardParser.Parse(standardSpec)
}

// Parse returns the Schedule that spec describes: a *SpecSchedule, or a ConstantDelaySchedule for @every. spec may begin
// with TZ= or CRON_TZ= and the name of a time zone.
func (p Parser) Parse(spec string) (Schedule, error) {
	if spec == "" {
		return nil, fmt.Errorf("empty spec string")
	}
	loc, spec, err := cutZone(spec)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(spec, "@") {
		if p.options&Descriptor == 0 {
			return nil, fmt.Errorf("parser does not accept descriptors: %v", spec)
		}
		return p.parseDescriptor(spec, loc)
	}
	fields, err := normalizeFields(strings.Fields(spec), p.options)
	if err != nil {
		return nil, err
	}
	return p.parseFields(fields, loc)
}

// cutZone returns the zone at the beginning of spec, or time.Local, and the rest of spec.
func cutZone(spec string) (*time.Location, string, error) {
	setting, value, _ := strings.Cut(spec, "=")
	if setting != "TZ" && setting != "CRON_TZ" {
		return time.Local, spec, nil
	}
	name, rest := value, ""
	if i := strings.IndexFunc(value, unicode.IsSpace); i >= 0 {
		name, rest = value[:i], strings.TrimSpace(value[i:])
	}
	loc, err := time.LoadLocation(name)
	if err != nil {
		return nil, "", fmt.Errorf("provided bad location %s: %w", name, err)
	}
	return loc, rest, nil
}

// parseFields parses the six fields.
func (p Parser) parseFields(fields []string, loc *time.Location) (Schedule, error) {
	s := &SpecSchedule{Location: loc}
	into := []*uint64{&s.Second, &s.Minute, &s.Hour, &s.Dom, &s.Month, &s.Dow}
	for i, b := range []bounds{seconds, minutes, hours, dom, months, dow} {
		values, err := getField(fields[i], b)
		if err != nil {
			return nil, err
		}
		if values == 0 {
			return nil, fmt.Errorf("a field without values: %s", fields[i])
		}
		*into[i] = values
	}
	p.setDaylight(s, fields[2])
	return s, nil
}

// setDaylight sets the bits for Daylight. hour is the text of the field.
func (p Parser) setDaylight(s *SpecSchedule, hour string) {
	if p.options&Daylight == 0 {
		return
	}
	s.Hour |= daylightBit
	if strings.ContainsAny(hour, "*?/") {
		s.Hour |= twiceBit
	}
}

// normalizeFields returns all six fields, with the defaults of those that options leave out.
func normalizeFields(fields []string, options ParseOption) ([]string, error) {
	optional := 0
	if options&SecondOptional != 0 {
		options |= Second
		optional++
	}
	if options&DowOptional != 0 {
		options |= Dow
		optional++
	}
	if optional > 1 {
		return nil, fmt.Errorf("multiple optionals may not be configured")
	}
	all := slices.Clone(defaults)
	var included []int
	for i, place := range places {
		if options&place != 0 {
			included = append(included, i)
		}
	}
	most := len(included)
	switch n := len(fields); {
	case n == most:
	case n == most-optional && options&DowOptional != 0:
		included = included[:n]
	case n == most-optional:
		included = included[1:]
	case optional == 0:
		return nil, fmt.Errorf("expected exactly %d fields, found %d: %s", most, n, fields)
	default:
		return nil, fmt.Errorf("expected %d to %d fields, found %d: %s", most-optional, most, n, fields)
	}
	for i, place := range included {
		all[place] = fields[i]
	}
	return all, nil
}

// descriptors has the six fields for each name.
var descriptors = map[string]string{
	"@yearly":   "0 0 0 1 1 *",
	"@annually": "0 0 0 1 1 *",
	"@monthly":  "0 0 0 1 * *",
	"@weekly":   "0 0 0 * * 0",
	"@daily":    "0 0 0 * * *",
	"@midnight": "0 0 0 * * *",
	"@hourly":   "0 0 * * * *",
}

func (p Parser) parseDescriptor(descriptor string, loc *time.Location) (Schedule, error) {
	if fields, ok := descriptors[descriptor]; ok {
		return p.parseFields(strings.Fields(fields), loc)
	}
	if period, ok := strings.CutPrefix(descriptor, "@every "); ok {
		duration, err := time.ParseDuration(period)
		if err != nil {
			return nil, fmt.Errorf("failed to parse duration %s: %w", descriptor, err)
		}
		return Every(duration), nil
	}
	return nil, fmt.Errorf("unrecognized descriptor: %s", descriptor)
}
