package api

import (
	"errors"
	"fmt"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/schedule"
)

// Runs limits the runs of a schedule, and spreads those of many timers.
type Runs struct {
	Spread string `json:"spread,omitempty" doc:"With schedule: each run is later by a time within this duration, the same each time, which the key determines" example:"10m"`
	From   string `json:"from,omitempty" doc:"With schedule: no run is before this time" example:"2030-01-31T12:00:00Z"`
	Until  string `json:"until,omitempty" doc:"With schedule: no run is after this time. The timer ends with the last run" example:"2031-01-31T12:00:00Z"`
}

var (
	errOfSchedule = errors.New("spread, from and until go with a schedule")
	errSpread     = errors.New("spread: it does not go with @every")
	errUntil      = errors.New("until: it is before from")
)

// of returns the schedule of a key with this text.
func (r *Runs) of(text, key string) (s durable.Schedule, err error) {
	if s, err = durable.ParseSchedule(text); err != nil {
		return s, err
	}
	if r.Spread != "" {
		window, err := parseSpread(r.Spread)
		switch {
		case err != nil:
			return s, err
		case s.Every() > 0:
			return s, errSpread
		}
		s = schedule.Spread(s, window, key)
	}
	from, until := s.Bounds()
	if err = boundary("from", r.From, &from); err == nil {
		err = boundary("until", r.Until, &until)
	}
	switch {
	case err != nil:
		return s, err
	case !until.IsZero() && until.Before(from):
		return s, errUntil
	}
	return schedule.Between(s, from, until), nil
}

// boundary sets a time unless the text is empty.
func boundary(field, text string, t *time.Time) (err error) {
	if text == "" {
		return nil
	}
	if *t, err = parseAt(text); err != nil {
		return fmt.Errorf("%s: %w", field, err)
	}
	return nil
}

func parseSpread(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < time.Second || d > schedule.MaxSpread {
		return 0, fmt.Errorf("spread: %.40q is not a duration from 1s to %v", text, schedule.MaxSpread)
	}
	return d, nil
}
