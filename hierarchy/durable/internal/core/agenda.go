package core

import (
	"errors"
	"math"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
	"github.com/epicycle-go/epicycle/hierarchy/durable/schedule"
)

// Agenda decides which timer fires next, and when. It begins nothing itself. Its methods take the owner's time as now.
type Agenda struct {
	cfg   *Config
	state *state.State

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

// NewAgenda returns an Agenda for an owner.
func NewAgenda(cfg *Config) Agenda { return Agenda{cfg: cfg} }

// SetState replaces the state.
func (a *Agenda) SetState(s *state.State) { a.state = s }

// Announced returns the job of a timer that was announced, and whose attempt begins now.
func (a *Agenda) Announced(ref state.Ref, now int64) Job {
	j := a.job(state.Due{Ref: ref, Since: now})
	j.starts = false
	return j
}

// job returns the next attempt of a timer that is due.
func (a *Agenda) job(d state.Due) Job {
	t := a.state.Timer(d.Ref)
	j := Job{Ref: d.Ref, ID: t.ID, Attempt: state.AfterAttempt(t.Attempt), Due: d}
	if t.Schedule == "" {
		return j
	}
	j.schedule, j.Invalid = parseSchedule(t.Schedule)
	j.starts = j.Invalid == nil && !t.Started && j.schedule.Missed() != schedule.MissedAll
	return j
}

// Suspected records that an attempt of the timer was in progress when the last owner's process ended.
func (a *Agenda) Suspected(ref state.Ref, id frame.ID) {
	if a.suspects == nil {
		a.suspects = make(map[state.Ref]frame.ID)
	}
	a.suspects[ref] = id
}

// Review takes the timers that are due at the takeover out of the state, if the last owner did not close the log: their
// attempts may have been in progress when it ended.
func (a *Agenda) Review(now, wall int64) {
	for {
		d, ok := a.state.Pop(now, wall)
		if !ok {
			return
		}
		j := a.job(d)
		j.begins = true
		if _, ok := a.suspects[d.Ref]; ok {
			delete(a.suspects, d.Ref)
			j.Suspect = true
			a.accused = append(a.accused, j)
			continue
		}
		a.careful = append(a.careful, j)
	}
}

// anyLeft reports whether the agenda itself has a job, taken out of the state earlier, that can begin now.
func (a *Agenda) anyLeft() bool {
	return len(a.delayed) > 0 || len(a.careful) > 0 || len(a.accused) > 0 && !a.trial
}

// AnyDue reports whether Next has a job.
func (a *Agenda) AnyDue(now, wall int64) bool {
	return a.anyLeft() || a.state.AnyDue(now, wall)
}

// Next takes out the timer that is due first. The job's ID is zero if no timer is due.
func (a *Agenda) Next(now, wall int64) Job {
	switch {
	case len(a.delayed) > 0:
		j := first(&a.delayed)
		delete(a.isDelayed, j.ID)
		return j
	case len(a.careful) > 0:
		return first(&a.careful)
	case len(a.accused) > 0 && !a.trial:
		return first(&a.accused)
	}
	d, ok := a.state.Pop(now, wall)
	if !ok {
		return Job{}
	}
	j := a.job(d)
	if id, ok := a.suspects[d.Ref]; ok {
		delete(a.suspects, d.Ref)
		if j.Suspect = id == j.ID; j.Suspect && a.trial {
			a.accused = append(a.accused, j)
			return Job{}
		}
	}
	return j
}

// first removes and returns the first of the jobs.
func first(jobs *[]Job) Job {
	j := (*jobs)[0]
	*jobs = (*jobs)[1:]
	return j
}

// Delay keeps a job whose attempt did not begin, unless the job is kept already. Next returns the job once the lease
// has returned.
func (a *Agenda) Delay(j Job) {
	a.state.Hold(j.Ref, j.ID)
	switch {
	case j.Suspect:
		a.accused = append(a.accused, j)
	case !a.isDelayed[j.ID]:
		if a.isDelayed == nil {
			a.isDelayed = make(map[frame.ID]bool)
		}
		a.isDelayed[j.ID] = true
		a.delayed = append(a.delayed, j)
	}
}

// Nearest returns when the next attempt, or the removal of a dead timer, is due. If a timer waits for a wall time, the
// result is at most wallCheck from now, since the wall clock may be set meanwhile.
func (a *Agenda) Nearest(now, wall int64, wallCheck time.Duration) (at int64, ok bool) {
	if a.anyLeft() {
		return math.MinInt64, true
	}
	at = math.MaxInt64
	if due, there := a.state.Next(false); there {
		at, ok = due, true
	}
	if due, there := a.state.NextExpiry(); there {
		at, ok = min(at, due), true
	}
	if due, there := a.state.Next(true); there {
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
func (a *Agenda) expireLeft(j *Job) {
	if a.state.WasLeft(j.Ref) && a.cfg.isLast(j.Attempt-1) {
		j.Attempt--
		j.Invalid, j.starts = errUnanswered, false
	}
}

// Begin is called when a job's attempt is about to begin. It reports false if there is no job, or if the job's timer has
// changed meanwhile. write reports whether Begun must be in the log first. announced tells that no handler runs here
// that could crash the process.
func (a *Agenda) Begin(j *Job, announced bool) (write, ok bool) {
	if j.ID == (frame.ID{}) || !a.state.Held(j.Ref, j.ID) {
		return false, false
	}
	if announced {
		j.begins, j.Suspect = false, false
	}
	a.expireLeft(j)
	j.begins = j.begins || j.Suspect
	if write = j.begins || j.starts; write {
		a.trial = a.trial || j.Suspect
		j.Key = []byte(a.state.Timer(j.Ref).Key)
	}
	return write, true
}

// Written is called when Begun of a job is in the log. It reports false if the job's timer has changed since.
func (a *Agenda) Written(j *Job) bool {
	if !a.state.Held(j.Ref, j.ID) {
		return false
	}
	if j.starts { // the start may have given the run another due time
		t := a.state.Timer(j.Ref)
		j.Due.Since, j.Due.Wall = t.Due, t.Wall
	}
	j.begins, j.starts = false, false
	return true
}

// Over is called when the attempt of a job has ended, or does not begin although Begin has reported true.
func (a *Agenda) Over(j *Job) {
	if j.Suspect {
		a.trial = false
	}
}
