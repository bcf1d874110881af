package durable

import (
	"fmt"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
	"github.com/epicycle-go/epicycle/hierarchy/durable/schedule"
)

// Schedule says when a timer runs again and again. ParseSchedule makes one. It is comparable, and the zero Schedule is
// none. It is a hierarchy.Schedule, too.
type Schedule = schedule.Schedule

// Missed is what Schedule.OnMissed does with runs that could not begin when they were due.
type Missed = schedule.Missed

const (
	MissedOnce = schedule.MissedOnce // one run stands for all that were missed
	MissedSkip = schedule.MissedSkip // none of them runs
	MissedAll  = schedule.MissedAll  // each of them runs, one after another
)

// ParseSchedule makes a Schedule of a text such as "@every 90s", "@daily" or "CRON_TZ=Europe/Berlin 30 2 * * *". Package
// schedule describes it. For any other text it returns ErrArgument.
func ParseSchedule(text string) (Schedule, error) {
	s, err := schedule.Parse(text)
	if err != nil {
		return Schedule{}, fmt.Errorf("%w: %w", partition.ErrArgument, err)
	}
	return s, nil
}

// parseStored parses the Schedule of a timer in the log. The empty text is the zero Schedule.
func parseStored(text string) (Schedule, error) {
	if text == "" {
		return Schedule{}, nil
	}
	return ParseSchedule(text)
}
