package simulate

import (
	"fmt"
	"time"
)

// mostLate is how late an attempt begins at most while nothing holds its owner up. Some appends come before its own.
const mostLate = 100 * time.Millisecond

// young is for how long a process goes by what it knows of an owner's clock, and a little more.
const young = 11 * time.Second

// late judges an attempt that should begin after a time, by an owner that nothing has held up since. Its clock must not
// have stood still since another time.
func (w *world) late(what string, f *firing, counts, from time.Time, most time.Duration) {
	own, ok := w.takeovers[f.Partition][f.Epoch]
	if !ok {
		return
	}
	from = latest(from, own.at)
	if f.clock.p.wasHeldUp(f.Partition, latest(counts, own.at), from, f.at) {
		return
	}
	w.punctual++
	if w.announces() {
		most += time.Second // until somebody takes it
	}
	if late := f.at.Sub(from); late > most {
		w.wrong("late by %s: attempt %d of %q begins %v late at %v by owner %d, which nothing holds up",
			what, f.Attempt, f.Key, late, f.at.Sub(w.begun), f.Epoch)
	}
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// checkLate checks the first attempt of a timer by what the log says, and by the call that has set it.
func (w *world) checkLate(t *timer, f *firing) {
	own, ok := w.takeovers[f.Partition][f.Epoch]
	switch {
	case !ok, t.unknown, f.Attempt > 1, w.logs[f.Partition].begunBefore(f):
	case t.in == 0:
		w.late("a wall clock", f, t.answered, f.clock.reaches(f.Due, latest(t.answered, own.at)), mostLate)
	default:
		due := max(0, time.Duration(f.Due-own.own))
		w.late("the log", f, own.at, latest(t.answered, own.at.Add(due+due/500)), mostLate)
		if own.at.Before(t.begun) {
			w.checkLateCall(t, f, own)
		} else if f.ofOwner() && !w.held.anyCopy(t.caller, t.begun, t.answered) && !t.caller.stoodStill(t.begun, t.answered) {
			w.late("the call before the takeover", f, t.begun, latest(t.answered, t.begun.Add(t.in+t.in/500)), mostLate+2*slowMessage)
		}
	}
}

// slowMessage is how long the network takes for a message at most, unless it holds it.
const slowMessage = 2 * time.Second

// checkLateCall checks an attempt by the owner that has set its timer: the duration counts from the call, however long
// that has waited. What is known of the owner's clock may be wrong by the time that a question and its answer have taken, and
// by that for which the owner has stood still since.
func (w *world) checkLateCall(t *timer, f *firing, own takeover) {
	longest := t.in + t.in/500
	w.late("the answer", f, t.begun, t.answered.Add(longest), mostLate)
	known := t.begun.Add(-young)
	if own.at.Before(known) && !w.held.any(t.caller, known, t.answered) && !t.caller.stoodStill(t.begun, t.answered) {
		w.late("the call", f, known, latest(t.answered, t.begun.Add(longest)), mostLate+2*slowMessage)
	}
}

// checkLateNext checks an attempt after one of the same owner that has failed.
func (w *world) checkLateNext(last, f *firing) {
	w.lateAfter("the backoff", last, f, last.at.Add(time.Duration(float64(last.ended-last.elapsed+backoff)/f.clock.rate)), mostLate)
}

// checkLateRun checks a run of a schedule after another one that has succeeded.
func (w *world) checkLateRun(last, f *firing) {
	if last.done && !last.failed && f.Attempt == 1 && !w.announces() && !w.logs[f.Partition].begunBefore(f) {
		own := w.takeovers[f.Partition][f.Epoch]
		w.lateAfter("a schedule", last, f, f.clock.reaches(f.Due, latest(last.at, own.at)), mostLate)
	}
}

// lateAfter is late for what follows an attempt, whose end had to come into the log.
func (w *world) lateAfter(what string, last, f *firing, from time.Time, most time.Duration) {
	if !f.clock.p.wasHeldUp(f.Partition, last.at, last.at, f.at) {
		w.late(what, f, last.at, from, most)
	}
}

// stoodStill reports whether a process has stood still in a time.
func (p *worker) stoodStill(from, to time.Time) bool {
	for _, h := range p.holdUps {
		if h.at == standstill && h.from.Before(to) && h.to.After(from) {
			return true
		}
	}
	return false
}

// runsGoOn checks that schedules have had runs lately. The lock is held.
func (w *world) runsGoOn() {
	for at := range partitions {
		key := fmt.Sprint("run ", at)
		all := w.firings[key]
		if len(all) == 0 {
			continue
		}
		if ago := time.Since(all[len(all)-1].at); ago > period+2*maxSkew+2*prompt {
			w.wrong("late: %q has had no run for %v", key, ago)
		}
	}
}
