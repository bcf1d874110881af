package hierarchy

import (
	"time"
)

// RunNow makes the next run due now. The runs after it are as if it had been in time: an Every
// keeps its multiples of the period, and a Schedule is asked for the time after the one of that
// run. Runs never overlap: while one is under way, the next begins when it returns, unless a
// Schedule ends with it. Several calls before that run begins are as one. RunNow is false if the
// Repeater has ended, or its wheel was stopped.
func (r *Repeater) RunNow() bool {
	requireMade(r.wheel != nil, "Repeater")
	ok, fires := r.hurry()
	if fires {
		r.wheel.core.submit(r.fire)
	}
	return ok
}

// hurry is RunNow. If fires is true, the executor must get the run as soon as mu is unlocked.
func (r *Repeater) hurry() (ok, fires bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.ended || r.wheel.core.closed.Load():
		return false, false
	case r.early && (r.running || r.timer.Active()):
		return true, false
	}
	r.early = true
	if r.running {
		return true, false // setNext goes on
	}
	return r.timer.hurry(r.wheel.core.now())
}

// Next is the wall time of the next run, as of now. It is false if the Repeater has ended, and
// during a run of a Schedule, which is asked for the next time after the run. The next run may
// be late, and skipped if it is late by more than a period.
func (r *Repeater) Next() (time.Time, bool) {
	requireMade(r.wheel != nil, "Repeater")
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended || r.wheel.core.closed.Load() {
		return time.Time{}, false
	}
	wall, now := r.wheel.core.reading()
	switch {
	case r.early:
		return wall.Round(0), true
	case r.plan == nil:
		return wall.Add(time.Duration(r.nextDue(now) - now)).Round(0), true
	case r.running:
		return time.Time{}, false
	}
	return r.wall, true
}

// nextDue is when the next run of an Every is due. mu must be held.
func (r *Repeater) nextDue(now int64) int64 {
	if !r.running {
		return r.due
	}
	due, _ := r.afterRun(now)
	return due
}

// hurry makes the timer, which has keepNode, due now, unless its task is with the executor. If
// no task of the wheel is under way, the executor has lost that one by a panic. If fires is
// true, submit must follow, with no lock held. It is not counted as a move.
func (t Timer) hurry(now int64) (ok, fires bool) {
	return t.shard.hurry(t.index, t.generation, now)
}

func (s *shard[T]) hurry(i uint32, generation uint64, now int64) (ok, fires bool) {
	s.mu.Lock()
	n := s.lookup(i, generation)
	unlinked := n != nil && !n.Linked()
	if n == nil || unlinked && !s.core.inFlight.none() {
		s.mu.Unlock()
		return n != nil, false
	}
	if s.core.direct && !unlinked {
		s.timers.Unlink(n)
		s.book(0)
		s.mu.Unlock()
		return true, true
	}
	s.move(i, n, now, now)
	s.unlockDue(now)
	return true, false
}
