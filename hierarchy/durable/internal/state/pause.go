package state

import "github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"

// A timer with a schedule can be paused: no attempt of it begins until it is resumed. It is on no wheel then, but keeps
// all it has, also what it waits for. An attempt that has begun goes on.

// parked is what a paused timer waits for.
type parked struct {
	until int64
	wall  bool
}

func (s *State) isPaused(i uint32) bool {
	e := s.extras[i]
	return e != nil && e.Paused
}

// paused applies a Pause or a Resume.
func (s *State) paused(op *frame.Op, i uint32, r *record) error {
	switch {
	case r.state == dead:
		return senseless(op, "the timer is dead")
	case s.extra(i).Schedule == "":
		return senseless(op, "the timer has no schedule")
	case op.Kind == frame.Pause:
		s.pause(i, r)
	default:
		s.resume(i, r, op)
	}
	s.list(i)
	return nil
}

// pause applies a Pause. A timer that is held waits again, unless the log has the begin of its attempt, which is then
// about to begin.
func (s *State) pause(i uint32, r *record) {
	e := s.extra(i)
	e.Paused = true
	s.setExtra(i, e)
	switch {
	case r.state == waiting:
		s.rewait(i, r)
	case r.state == held && !s.HasBegun(Ref(i)):
		if s.Withdrawn != nil {
			s.Withdrawn(Ref(i))
		}
		until, wall := s.nextOf(i, r)
		s.waitUntil(i, r, wall, until)
	}
}

// resume applies a Resume.
func (s *State) resume(i uint32, r *record, op *frame.Op) {
	if op.Moved {
		s.leave(i, r)
		r.due, r.wall, r.id, r.attempt = op.Due, true, op.ID, 0
	}
	e := s.extra(i)
	e.Resume(op)
	s.setExtra(i, e)
	switch {
	case op.Moved:
		s.wait(i, r, r.due)
	case r.state == waiting:
		s.rewait(i, r)
	}
}

// Resume applies a Resume. If it is Moved, the run that was pending is over, as one that was skipped.
func (e *Extra) Resume(op *frame.Op) {
	e.Paused = false
	if op.Moved {
		e.Missed, e.Started = 0, false
	}
}

// rewait makes a timer that waits do so on a wheel, or on none if it is paused.
func (s *State) rewait(i uint32, r *record) {
	if s.built {
		until, wall := s.until(i, r)
		s.unwheel(i, r)
		s.waitUntil(i, r, wall, until)
	}
}

// Parked returns what a timer waits for that is paused, or is paused now. ok is false if its attempt is in progress, or
// about to begin. One that was left is in progress until that time.
func (s *State) Parked(ref Ref) (until int64, wall, ok bool) {
	i, r := uint32(ref), s.records.at(uint32(ref))
	if r.state != waiting && (r.state != held || s.HasBegun(ref)) {
		return 0, false, false
	}
	until, wall = s.nextOf(i, r)
	return until, wall, true
}
