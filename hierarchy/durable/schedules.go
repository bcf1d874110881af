package durable

import (
	"context"
	"fmt"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/schedule"
)

// Schedule determines when a timer runs again and again. ParseSchedule makes one. It is comparable, and the zero
// Schedule means none. It also implements hierarchy.Schedule.
type Schedule = schedule.Schedule

// Missed is the rule of Schedule.OnMissed for runs that could not begin when they were due.
type Missed = schedule.Missed

const (
	MissedOnce = schedule.MissedOnce // one run makes up for all missed runs
	MissedSkip = schedule.MissedSkip // no missed run is made up for
	MissedAll  = schedule.MissedAll  // each missed run is made, one after another
)

// ParseSchedule parses a schedule such as "@every 90s", "@daily" or "CRON_TZ=Europe/Berlin 30 2 * * *". Package
// schedule describes the syntax. If the text is not a schedule, the error is ErrArgument.
func ParseSchedule(text string) (Schedule, error) {
	s, err := schedule.Parse(text)
	if err != nil {
		return Schedule{}, fmt.Errorf("%w: %w", core.ErrArgument, err)
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

// SetSchedule sets a timer for k, with the value v, that runs again and again: first at s.Next of the wall time. It
// returns the timer, which is due at the first run. If k has a timer, it is replaced. The timer counts once under MaxPending, and has one pending run: the end of a run and
// the next run are one operation in the log, and no two runs overlap. Each run has an ID of its own, and attempts
// counted from 1. If a run has failed MaxAttempts times, Stats().Died counts it, OnDead is called, and the schedule
// continues. When there is no further run, the timer ends like any other.
//
// Runs that fall due while no process owns the partition, or while another run is in progress, are missed.
// Schedule.OnMissed determines what happens to missed runs, and Firing.Missed is the number of missed runs that a run
// makes up for. Two kinds of runs do not count as missed, and are made late: runs that were interrupted when their
// process ended, and runs that had not begun although, as the log shows, the last owner was alive when they fell due.
//
// Set, SetAt and the like replace the timer and its schedule. Remove removes both. Move and MoveAt move the pending
// run, and the schedule continues after that time: if a run is moved to the present time, it is made now, and the next
// runs follow as planned.
//
// Runs are due by the wall clock of the owner. If that clock is set back, no run is made twice. The error can also be
// ErrArgument, if s is zero, has no run within 100 years, or has a zone that the owner of the partition does not know.
func (w *Keyed[K, V]) SetSchedule(ctx context.Context, k K, v V, s Schedule) (Entry[K, V], error) {
	e, _, err := w.set(ctx, operation[K, V]{kind: frame.SetAt, was: true, key: k, val: v, s: &s})
	return e, err
}

// scheduleText returns the text of a Schedule that is stored in the log.
func (w *Keyed[K, V]) scheduleText(s Schedule) ([]byte, error) {
	text := s.String()
	switch {
	case text == "":
		return nil, fmt.Errorf("%w: the Schedule is zero", core.ErrArgument)
	case len(text) > core.MaxSchedule:
		return nil, fmt.Errorf("%w: a Schedule of %d bytes, of at most %d", ErrTooLarge, len(text), core.MaxSchedule)
	case s.Next(w.cfg.Clock.Now()).IsZero():
		return nil, fmt.Errorf("%w: the Schedule %q has no run within 100 years", core.ErrArgument, text)
	}
	return []byte(text), nil
}
