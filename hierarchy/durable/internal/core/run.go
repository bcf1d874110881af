package core

import (
	"fmt"
	"slices"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
	"github.com/epicycle-go/epicycle/hierarchy/schedule"
)

// A timer with a schedule has one pending run. The operation that ends a run also sets the next run: the first run
// after the due time of the ended run or, by MissedSkip, the first run that is still in the future.
//
// The rule for missed runs is applied before a run begins. By MissedOnce a run that begins late stands for all runs
// that are due when it begins, and gets the due time of the last of them. By MissedSkip a run that has not started is
// skipped if it fell due between the last frame of an owner, takeovers not counted, and the takeover of the next one,
// whether that was this one or an earlier one. By MissedAll each run is made. Before the handler is called, a start with
// the outcome of the rule is written to the log. By MissedAll no start is written, since that rule changes nothing. A run
// that has started does not change any more: after a crash it is made again, with the same ID.

// parseSchedule parses the text of a schedule in the log. The empty text is no schedule.
func parseSchedule(text string) (s schedule.Schedule, err error) {
	if text == "" {
		return s, nil
	}
	if s, err = schedule.Parse(text); err != nil {
		err = fmt.Errorf("%w: the schedule %.100q: %w", ErrArgument, text, err)
	}
	return s, err
}

func wallTime(t int64) time.Time { return time.Unix(0, t).UTC() }

// lastYear is the last year that the times of frames cover completely.
const lastYear = 2261

// nextRun returns the first run after a wall time. ok is false if there is none.
func nextRun(s schedule.Schedule, after int64) (at int64, ok bool) {
	next := s.Next(wallTime(after))
	if next.IsZero() || next.Year() > lastYear {
		return 0, false
	}
	return next.UnixNano(), true
}

// missedRuns returns the last run after due and until now, and the number of runs in that time. If there is no such
// run, it returns due and 0.
func missedRuns(s schedule.Schedule, due, now int64) (last int64, n int) {
	next, ok := nextRun(s, due)
	if !ok || next > now {
		return due, 0
	}
	n = s.Count(wallTime(due), wallTime(now))
	if p := int64(s.Every()); p > 0 {
		return next + int64(n-1)*p, n
	}
	if _, until := s.Bounds(); !until.IsZero() && until.Before(wallTime(now)) {
		now = until.UnixNano()
	}
	return lastRun(s, next, now), n
}

// lastRun returns the last run of a cron schedule until now. from must be the time of a run. It takes at most some
// thousand steps: the runs of half a day, or of the schedule's longest pause.
func lastRun(s schedule.Schedule, from, now int64) int64 {
	for back := int64(time.Second); back < now-from; back *= 2 {
		if next, ok := nextRun(s, now-back); ok && next <= now {
			from = next
			break
		}
	}
	for {
		next, ok := nextRun(s, from)
		if !ok || next > now {
			return from
		}
		from = next
	}
}

// following returns the first run that is both after due and after now.
func following(s schedule.Schedule, due, now int64) (at int64, ok bool) {
	if s.Every() > 0 { // the runs count from due
		due, _ = missedRuns(s, due, now)
		return nextRun(s, due)
	}
	return nextRun(s, max(due, now))
}

// runDue returns when a run was due, in wall time. The due time that a Move sets is in the owner's time.
func (o *Owner) runDue(t *state.Timer) int64 {
	return o.asWall(t.Due, t.Wall)
}

// gap is a time in which a log had no owner, as far as it shows: from a frame to a takeover. As the log has no wall time,
// the end of an earlier one may be up to MaxSkew too late.
type gap struct {
	number   uint64 // of the frame
	from, to int64
}

func (g gap) has(at int64) bool { return g.from < at && at < g.to }

// attended records what a frame that was read shows about when the log had an owner. An owner that has written only its
// takeover has begun no runs. What was before the log is forgotten, as those who read it later don't know that either.
func (o *Owner) attended(f *frame.Frame) {
	if f.Epoch != f.Number {
		o.alive = gap{number: f.Number, from: f.Time}
	} else if last := len(o.gaps) - 1; last >= 0 && o.gaps[last].number == o.alive.number {
		o.gaps[last].to = f.Time
	} else if o.alive.number != 0 {
		o.gaps = append(o.gaps, gap{o.alive.number, o.alive.from, f.Time})
	}
	o.gaps = slices.DeleteFunc(o.gaps, func(g gap) bool { return g.number < f.Begin })
}

// unattended reports whether the log had no owner at a time. If an earlier owner has not begun what fell due before it took
// over, such as for lack of a free place, that is missed all the same.
func (o *Owner) unattended(at int64) bool {
	now := o.alive
	now.to = o.Owned
	return now.has(at) || slices.ContainsFunc(o.gaps, func(g gap) bool { return g.has(at) })
}

// startRun applies the rule for missed runs to a run that is about to begin, and to was, the state of its key, and adds
// the outcome to the frame. It reports false if the run does not begin.
func (o *Owner) startRun(j *Job, was *change, hash uint64) bool {
	t := o.State.Timer(j.Ref)
	due := o.runDue(&t)
	op := frame.Op{Kind: frame.Start, Key: j.Key, ID: j.ID}
	switch j.schedule.Missed() {
	case schedule.MissedSkip:
		if o.unattended(due) {
			o.addNext(j, *was, hash, &t, frame.Op{How: frame.Skipped})
			return false
		}
	case schedule.MissedOnce:
		last, n := missedRuns(j.schedule, due, o.wall)
		if n > 0 {
			op.Moved, op.Due, op.Missed = true, last, uint32(min(uint64(t.Missed)+uint64(n), state.MaxCount))
			was.due, was.wall, was.extra.Missed = op.Due, true, op.Missed
		}
	}
	was.extra.Started = true
	o.Add(&op)
	return true
}

// addNext adds the end of a run, which op describes by How and Error, and the next run to the frame. Without a next run,
// a skipped run ends with its timer; otherwise addNext adds nothing and reports false.
func (o *Owner) addNext(j *Job, was change, hash uint64, t *state.Timer, op frame.Op) bool {
	due := o.runDue(t)
	next, ok := nextRun(j.schedule, due)
	if j.schedule.Missed() == schedule.MissedSkip {
		next, ok = following(j.schedule, due, o.wall)
	}
	now := was
	switch {
	case ok:
		op.Kind, op.Key, op.Ended, op.Due = frame.Next, j.Key, j.ID.Number, next
		now = change{key: was.key, value: was.value, raw: was.raw, after: live, due: next, wall: true, extra: was.extra}
		now.extra.End(o.Header(), &op)
		now.id = o.Add(&op)
	case op.How == frame.Skipped: // the skipped run was the last one
		now.after = absent
		o.Add(&frame.Op{Kind: frame.End, Key: j.Key, ID: j.ID})
	default:
		return false
	}
	o.note(hash, was.after, now)
	return true
}

// goesOn adds the end of a run and the next run to the frame. It reports false if the timer has no schedule, or if the
// schedule has no further run.
func (o *Owner) goesOn(e *Event, was change, hash uint64) bool {
	if !e.Job.HasSchedule() {
		return false
	}
	op := frame.Op{How: frame.Returned}
	if e.kind == failed {
		op.How, op.Error = frame.Died, e.text
	}
	t := o.State.Timer(e.Job.Ref)
	return o.addNext(&e.Job, was, hash, &t, op)
}
