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
	isDelayed map[frame.ID]bool // Invariant: whose they are

	// After an unclean end, attempts are written before they begin: those of the timers that were due at the takeover,
	// and those of suspects, whose attempts were under way at that end. Suspects run one at a time.
	careful  []job // due at the takeover, in the order of due
	suspects map[state.Ref]frame.ID
	accused  []job // suspects that are due
	trial    bool  // one of them is under way
}

// job is a timer whose attempt is about to begin, or has ended.
type job struct {
	ref     state.Ref
	id      frame.ID
	key     []byte // after the attempt
	attempt uint32
	suspect bool
	begins  bool // it is written that the attempt begins, before it does
	starts  bool // and that the run of the schedule does
	due     state.Due
	// done may be nil. It is set when the result of the attempt is in the log, or won't be.
	done wait.Signal
	// schedule is that of the timer. If it can't be read, invalid says so.
	schedule schedule.Schedule
	invalid  error
}

// job returns the next attempt of a timer that is due.
func (a *agenda) job(d state.Due) job {
	t := a.state.Timer(d.Ref)
	j := job{ref: d.Ref, id: t.ID, attempt: t.Attempt + 1, due: d}
	if t.Schedule == "" {
		return j
	}
	j.schedule, j.invalid = parseSchedule(t.Schedule)
	j.starts = j.invalid == nil && !t.Started && j.schedule.Missed() != schedule.MissedAll
	return j
}

// release wakes whoever waits for the job: nothing more will be written for it. A barrier may be released twice.
func (j *job) release() {
	j.done.Set()
}

// suspected notes that an attempt of the timer was under way when the last owner's process ended.
func (a *agenda) suspected(ref state.Ref, id frame.ID) {
	if a.suspects == nil {
		a.suspects = make(map[state.Ref]frame.ID)
	}
	a.suspects[ref] = id
}

// review takes out what is due at the takeover of a log that did not end in order: it may have been under way.
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

// anyLeft reports whether there is a job that was due before.
func (a *agenda) anyLeft() bool {
	return len(a.delayed) > 0 || len(a.careful) > 0 || len(a.accused) > 0 && !a.trial
}

// anyDue reports whether next has a job.
func (a *agenda) anyDue() bool {
	return a.anyLeft() || a.state.AnyDue(a.time.now(), a.time.wall())
}

// next takes out the timer that is due first. Its ID is zero if there is none.
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

// delay puts a job aside whose attempt did not begin, unless it waits already. It is next when the lease has returned.
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

// nearest returns the elapsed time at which something is due next: an attempt, or the removal of a dead timer. If a
// wall time is pending, it is at most wallCheck ahead, as the wall clock may be set meanwhile.
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
