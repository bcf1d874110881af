package core

import (
	"errors"
	"math"
	"slices"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
	"github.com/epicycle-go/epicycle/hierarchy/schedule"
)

// agenda has what the decision which timer fires next, and when, needs in addition to the state.
type agenda struct {
	delayed   []Job             // attempts that did not begin, because the lease had ended
	isDelayed map[frame.ID]bool // the IDs of the timers in delayed

	// After an unclean end of the last owner, two kinds of attempts are written to the log before they begin: attempts
	// of timers that were due at the takeover, and attempts of suspects. A suspect is a timer whose attempt was in
	// progress when the last owner ended. Suspects run one at a time.
	careful  []Job // jobs of timers that were due at the takeover, in the order of their due times
	suspects map[state.Ref]frame.ID
	accused  []Job // jobs of suspects that are due
	trial    bool  // an attempt of a suspect is in progress
}

// Announced returns the job of a timer that was announced, and whose attempt begins now.
func (o *Owner) Announced(ref state.Ref, now int64) Job {
	j := o.job(state.Due{Ref: ref, Since: now})
	j.starts = false
	return j
}

// job returns the next attempt of a timer that is due.
func (o *Owner) job(d state.Due) Job {
	t := o.State.Timer(d.Ref)
	j := Job{Ref: d.Ref, ID: t.ID, Number: state.AfterAttempt(t.Attempt), Due: d}
	if t.Schedule == "" {
		return j
	}
	j.schedule, j.Invalid = parseSchedule(t.Schedule)
	j.starts = j.Invalid == nil && !t.Started && j.schedule.Missed() != schedule.MissedAll
	return j
}

var errEnded = errors.New("the process ended during the attempt")

// FailBegun adds to the frame that the attempts in progress at the end of the last owner's process have failed, for as
// many timers as there is room for, and returns the other timers. The attempts become suspects.
func (o *Owner) FailBegun(begun []state.Ref) (rest []state.Ref) {
	for i, ref := range begun {
		t := o.State.Timer(ref)
		j := Job{Ref: ref, ID: t.ID, Key: []byte(t.Key), Number: t.Attempt}
		j.schedule, _ = parseSchedule(t.Schedule)
		e := o.Config.result(j, errEnded)
		if o.Len() > 0 && !o.HasRoomFor(nil, &e) {
			return begun[i:]
		}
		if o.Record(&e) {
			o.suspects[ref] = t.ID
			o.died(&e, &t)
		}
	}
	return nil
}

// Expire returns the removal of a dead timer that has been kept for long enough. ok is false if there is none.
func (o *Owner) Expire(now int64) (e Event, ok bool) {
	ref, ok := o.State.PopExpired(now)
	if ok {
		t := o.State.Timer(ref)
		e = Event{kind: expired, Job: Job{Ref: ref, ID: t.ID, Key: []byte(t.Key)}}
	}
	return e, ok
}

// Review takes the timers that are due at the takeover out of the state, if the last owner did not close the log: their
// attempts may have been in progress when it ended.
func (o *Owner) Review(now, wall int64) {
	for {
		d, ok := o.State.Pop(now, wall)
		if !ok {
			return
		}
		j := o.job(d)
		j.begins = true
		if j.Suspect = o.wasSuspect(&j); j.Suspect {
			o.accused = append(o.accused, j)
			continue
		}
		o.careful = append(o.careful, j)
	}
}

// anyLeft reports whether the agenda itself has a job, taken out of the state earlier, that can begin now.
func (o *Owner) anyLeft() bool {
	return len(o.delayed) > 0 || len(o.careful) > 0 || len(o.accused) > 0 && !o.trial
}

// AnyDue reports whether Next has a job.
func (o *Owner) AnyDue(now, wall int64) bool {
	return o.anyLeft() || o.State.AnyDue(now, wall)
}

// Next takes out the timer that is due first. The job's ID is zero if no timer is due.
func (o *Owner) Next(now, wall int64) Job {
	switch {
	case len(o.delayed) > 0:
		j := first(&o.delayed)
		delete(o.isDelayed, j.ID)
		return j
	case len(o.careful) > 0:
		return first(&o.careful)
	case len(o.accused) > 0 && !o.trial:
		return first(&o.accused)
	}
	d, ok := o.State.Pop(now, wall)
	if !ok {
		return Job{}
	}
	j := o.job(d)
	if j.Suspect = o.wasSuspect(&j); j.Suspect && o.trial {
		o.accused = append(o.accused, j)
		return Job{}
	}
	return j
}

// wasSuspect reports whether a job is that of a suspect, and forgets the suspect. The record may have another timer by now,
// or the timer another run.
func (o *Owner) wasSuspect(j *Job) bool {
	id, ok := o.suspects[j.Ref]
	delete(o.suspects, j.Ref)
	return ok && id == j.ID
}

// first removes and returns the first of the jobs.
func first(jobs *[]Job) Job {
	j := (*jobs)[0]
	*jobs = (*jobs)[1:]
	return j
}

// Delay keeps a job whose attempt did not begin, unless the job is kept already. Next returns the job once the lease
// has returned.
func (o *Owner) Delay(j Job) {
	o.State.Hold(j.Due, j.ID)
	switch {
	case !o.State.Held(j.Ref, j.ID): // it is paused, or has changed
	case j.Suspect:
		o.accused = slices.Insert(o.accused, 0, j) // its begin may be in the log, so it goes before other suspects
	case !o.isDelayed[j.ID]:
		o.isDelayed[j.ID] = true
		o.delayed = append(o.delayed, j)
	}
}

// Nearest returns when the next attempt, or the removal of a dead timer, is due. If a timer waits for a wall time, the
// result is at most wallCheck from now, since the wall clock may be set meanwhile.
func (o *Owner) Nearest(now, wall int64, wallCheck time.Duration) (at int64, ok bool) {
	if o.anyLeft() {
		return math.MinInt64, true
	}
	at = math.MaxInt64
	if due, there := o.State.Next(false); there {
		at, ok = due, true
	}
	if due, there := o.State.NextExpiry(); there {
		at, ok = min(at, due), true
	}
	if due, there := o.State.Next(true); there {
		left := min(max(0, state.Sub(due, wall)), int64(wallCheck))
		at, ok = min(at, state.Add(now, left)), true
	}
	return at, ok
}

// errUnanswered is the error of an attempt that was left, and was not ended in time. It is needed only if the attempt
// was the last.
var errUnanswered = errors.New("the attempt was not ended in time")

// expireLeft gives the job of a timer whose last attempt was left, and not ended in time, the failure of that attempt,
// if it was the last.
func (o *Owner) expireLeft(j *Job) {
	if o.State.WasLeft(j.Ref) && o.isLast(j.Number-1) {
		j.Number--
		j.Invalid, j.starts = errUnanswered, false
	}
}

// Begin is called when a job's attempt is about to begin. It reports false if there is no job, or if the job's timer has
// changed meanwhile. write reports whether Begun must be in the log first. announced tells that no handler runs here
// that could crash the process.
func (o *Owner) Begin(j *Job, announced bool) (write, ok bool) {
	if j.ID == (frame.ID{}) || !o.State.Held(j.Ref, j.ID) {
		return false, false
	}
	if announced {
		j.begins, j.Suspect = false, false
	}
	o.expireLeft(j)
	o.trial = o.trial || j.Suspect
	j.begins = j.begins || j.Suspect && !j.written
	if write = j.begins || j.starts; write {
		j.Key = []byte(o.State.Timer(j.Ref).Key)
	}
	return write, true
}

// Written is called when Begun of a job is in the log. It reports false if the job's timer has changed since.
func (o *Owner) Written(j *Job) bool {
	if !o.State.Held(j.Ref, j.ID) {
		return false
	}
	if j.starts { // the start may have given the run another due time
		t := o.State.Timer(j.Ref)
		j.Due.Since, j.Due.Wall = t.Due, t.Wall
	}
	j.begins, j.starts, j.written = false, false, true
	return true
}

// Over is called when the attempt of a job has ended, or does not begin although Begin has reported true.
func (o *Owner) Over(j *Job) {
	if j.Suspect {
		o.trial = false
	}
}
