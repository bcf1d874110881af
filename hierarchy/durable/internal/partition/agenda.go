package partition

import (
	"math"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/wait"
	"github.com/epicycle-go/epicycle/hierarchy/durable/schedule"
)

// agenda decides which timer fires next, and when. It begins nothing itself. Partition.mu guards it.
type agenda struct {
	state *state.State
	time  *ownTime

	delayed   []job             // attempts that did not begin, because the lease had ended
	isDelayed map[frame.ID]bool // the IDs of the timers in delayed

	// After an unclean end of the last owner, two kinds of attempts are written to the log before they begin: attempts
	// of timers that were due at the takeover, and attempts of suspects. A suspect is a timer whose attempt was in
	// progress when the last owner ended. Suspects run one at a time.
	careful  []job // jobs of timers that were due at the takeover, in the order of their due times
	suspects map[state.Ref]frame.ID
	accused  []job // jobs of suspects that are due
	trial    bool  // an attempt of a suspect is in progress
}

// job is a timer whose attempt is about to begin, or has ended.
type job struct {
	ref     state.Ref
	id      frame.ID
	key     []byte // the key of the timer; set when the attempt begins
	attempt uint32
	suspect bool
	begins  bool // the log must have a begin of the attempt before the attempt begins
	starts  bool // the log must have a start of the schedule's run before the attempt begins
	due     state.Due
	// done may be nil. It is set once the result of the attempt is in the log, or will certainly never be in the log.
	done wait.Signal
	// schedule is the timer's schedule. If its text can't be parsed, invalid is the error.
	schedule schedule.Schedule
	invalid  error
}

// job returns the next attempt of a timer that is due.
func (a *agenda) job(d state.Due) job {
	t := a.state.Timer(d.Ref)
	j := job{ref: d.Ref, id: t.ID, attempt: state.AfterAttempt(t.Attempt), due: d}
	if t.Schedule == "" {
		return j
	}
	j.schedule, j.invalid = parseSchedule(t.Schedule)
	j.starts = j.invalid == nil && !t.Started && j.schedule.Missed() != schedule.MissedAll
	return j
}

// release wakes whoever waits for the job. It is called when nothing more will be written for the job. A barrier may be
// released twice.
func (j *job) release() {
	j.done.Set()
}

// suspected records that an attempt of the timer was in progress when the last owner's process ended.
func (a *agenda) suspected(ref state.Ref, id frame.ID) {
	if a.suspects == nil {
		a.suspects = make(map[state.Ref]frame.ID)
	}
	a.suspects[ref] = id
}

// review takes the timers that are due at the takeover out of the state, if the last owner did not close the log: their
// attempts may have been in progress when it ended.
func (a *agenda) review() {
	for now, wall := a.time.now(), a.time.wall(); ; {
		d, ok := a.state.Pop(now, wall)
		if !ok {
			return
		}
		j := a.job(d)
		j.begins = true
		if _, ok := a.suspects[d.Ref]; ok {
			delete(a.suspects, d.Ref)
			j.suspect = true
			a.accused = append(a.accused, j)
			continue
		}
		a.careful = append(a.careful, j)
	}
}

// anyLeft reports whether the agenda itself has a job, taken out of the state earlier, that can begin now.
func (a *agenda) anyLeft() bool {
	return len(a.delayed) > 0 || len(a.careful) > 0 || len(a.accused) > 0 && !a.trial
}

// anyDue reports whether next has a job.
func (a *agenda) anyDue() bool {
	return a.anyLeft() || a.state.AnyDue(a.time.now(), a.time.wall())
}

// next takes out the timer that is due first. The job's ID is zero if no timer is due.
func (a *agenda) next() job {
	switch {
	case len(a.delayed) > 0:
		j := first(&a.delayed)
		delete(a.isDelayed, j.id)
		return j
	case len(a.careful) > 0:
		return first(&a.careful)
	case len(a.accused) > 0 && !a.trial:
		return first(&a.accused)
	}
	d, ok := a.state.Pop(a.time.now(), a.time.wall())
	if !ok {
		return job{}
	}
	j := a.job(d)
	if id, ok := a.suspects[d.Ref]; ok {
		delete(a.suspects, d.Ref)
		if j.suspect = id == j.id; j.suspect && a.trial {
			a.accused = append(a.accused, j)
			return job{}
		}
	}
	return j
}

// first removes and returns the first of the jobs.
func first(jobs *[]job) job {
	j := (*jobs)[0]
	*jobs = (*jobs)[1:]
	return j
}

// delay keeps a job whose attempt did not begin, unless the job is kept already. next returns the job once the lease
// has returned.
func (a *agenda) delay(j job) {
	a.state.Hold(j.ref, j.id)
	switch {
	case j.suspect:
		a.accused = append(a.accused, j)
	case !a.isDelayed[j.id]:
		if a.isDelayed == nil {
			a.isDelayed = make(map[frame.ID]bool)
		}
		a.isDelayed[j.id] = true
		a.delayed = append(a.delayed, j)
	}
}

// nearest returns the elapsed time at which the next attempt, or the removal of a dead timer, is due. If a timer waits
// for a wall time, the result is at most wallCheck from now, since the wall clock may be set meanwhile.
func (a *agenda) nearest(wallCheck time.Duration) (at int64, ok bool) {
	if a.anyLeft() {
		return 0, true
	}
	at = math.MaxInt64
	if due, there := a.state.Next(false); there {
		at, ok = state.Sub(due, a.time.shift), true
	}
	if due, there := a.state.NextExpiry(); there {
		at, ok = min(at, state.Sub(due, a.time.shift)), true
	}
	if due, there := a.state.Next(true); there {
		elapsed := int64(a.time.clock.Elapsed())
		left := min(max(0, state.Sub(due, a.time.wall())), int64(wallCheck))
		at, ok = min(at, state.Add(elapsed, left)), true
	}
	return at, ok
}
