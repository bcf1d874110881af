package api

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// When is when a timer is due: exactly one field is set.
type When struct {
	In       string `json:"in,omitempty" doc:"A duration from now, as Go writes it" example:"30m"`
	At       string `json:"at,omitempty" doc:"A time, as RFC 3339 has it" example:"2030-01-31T12:00:00Z"`
	Schedule string `json:"schedule,omitempty" doc:"A schedule: @every 90s, @daily, or five or six fields of cron" example:"CRON_TZ=Europe/Berlin 30 2 * * *"`
	Runs
	// Debounce is a pointer, so that it can be omitted.
	Debounce *Debounce `json:"debounce,omitempty" doc:"When requests for the key pause"`
}

// due is the parsed form of When.
type due struct {
	in       time.Duration
	at       time.Time // the due time, unless zero
	schedule string    // the text of the schedule, unless empty
	runs     Runs      // of the schedule
	debounce *debounce // unless nil
}

// errTime is for a request without exactly one time.
var errTime = errors.New("there must be exactly one of in, at, schedule and debounce")

func (w *When) parse() (d due, err error) {
	n := 0
	if w.In != "" {
		n++
		if d.in, err = parseIn(w.In); err != nil {
			err = fmt.Errorf("in: %w", err)
		}
	}
	if w.At != "" {
		n++
		if d.at, err = parseAt(w.At); err != nil {
			err = fmt.Errorf("at: %w", err)
		}
	}
	if w.Schedule != "" {
		n++
		d.schedule = w.Schedule
	}
	if d.runs = w.Runs; d.runs != (Runs{}) && w.Schedule == "" {
		return d, errOfSchedule
	}
	if w.Debounce != nil {
		n++
		d.debounce, err = w.Debounce.parse()
	}
	if n != 1 {
		return d, errTime
	}
	return d, err
}

// Timers have nanoseconds since 1970, which are in 64 bits.
var (
	earliest = time.Unix(0, math.MinInt64).UTC()
	latest   = time.Unix(0, math.MaxInt64).UTC()
)

// parseIn parses a duration from now.
func parseIn(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return 0, fmt.Errorf("%.40q is not a duration such as 30m or 1.5s", text)
	case d < 0:
		return 0, fmt.Errorf("%v is negative", d)
	case time.Now().Add(d).After(latest):
		return 0, fmt.Errorf("%v from now is after the latest time, %v", d, latest.Format(time.RFC3339))
	}
	return d, nil
}

func parseAt(text string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return t, fmt.Errorf("%.40q is not a time such as 2030-01-31T12:00:00Z", text)
	}
	if t.Before(earliest) || t.After(latest) {
		return t, fmt.Errorf("%.40q is not between %v and %v", text, earliest.Format(time.RFC3339), latest.Format(time.RFC3339))
	}
	return t, nil
}
