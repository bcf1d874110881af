package durable

import (
	"context"
	"fmt"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
	"github.com/epicycle-go/epicycle/hierarchy/durable/schedule"
)

// Schedule is when a timer runs again and again. ParseSchedule makes one. It is comparable, and the zero Schedule is
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

// SetSchedule sets a timer for k, with the value v, that runs again and again: first at s.Next of the wall time. If k has
// a timer, it is replaced. It is one timer, which counts once under MaxPending, and has one pending run: the end of a run
// and the next one are one operation in the log, and no two runs overlap. Each run has an ID of its own, and attempts
// counted from 1. One that has failed MaxAttempts times is counted in Stats().Died, and OnDead is called: the schedule
// goes on. When there is no further run, the timer ends like any other.
//
// Runs that fall due while no process owns the partition, or while another run goes on, are missed:
// Schedule.OnMissed says what happens to them, and Firing.Missed how many runs one stands for. A run that was interrupted
// when its process ended is not missed. It is made again. Neither is one that had not begun, if the log shows that the
// last owner was alive when it fell due.
//
// Set, SetAt and their like replace the timer and its schedule. Remove removes both. Move moves the pending run, and the
// schedule goes on after that time: a run that is moved to now is made now, and the next ones follow as planned.
//
// Runs are due by the wall clock of the owner. If that is set back, no run is made twice. The error can also be
// ErrArgument, if s is zero, has no run within 100 years, or a zone that the owner of the partition does not know. It is
// ErrUnavailable while a process shares the timers that runs an earlier version of this package.
func (w *Keyed[K, V]) SetSchedule(ctx context.Context, k K, v V, s Schedule) error {
	_, _, err := w.do(ctx, operation[K, V]{kind: frame.SetAt, key: k, val: v, s: &s})
	return err
}

// scheduleText returns what is stored of a Schedule.
func (w *Keyed[K, V]) scheduleText(s Schedule) ([]byte, error) {
	text := s.String()
	switch {
	case text == "":
		return nil, fmt.Errorf("%w: the Schedule is zero", partition.ErrArgument)
	case len(text) > partition.MaxSchedule:
		return nil, fmt.Errorf("%w: a Schedule of %d bytes, of at most %d", ErrTooLarge, len(text), partition.MaxSchedule)
	case s.Next(w.cfg.Clock.Now()).IsZero():
		return nil, fmt.Errorf("%w: the Schedule %q has no run within 100 years", partition.ErrArgument, text)
	}
	return []byte(text), nil
}
