package state

import "github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"

// attempted applies operations that attempts cause, and Revive.
func (s *State) attempted(h *frame.Header, op *frame.Op, i uint32, r *record) error {
	if op.Kind < frame.End || op.Kind > frame.Expire {
		return senseless(op, "it is unknown")
	}
	number := op.ID.Number
	if op.Kind == frame.Next {
		number = op.Ended
	}
	if r.id.Number != number {
		return senseless(op, "the ID is another")
	}
	if (r.state == dead) != (op.Kind == frame.Revive || op.Kind == frame.Expire) {
		return senseless(op, "the timer is dead, or is not")
	}
	if (op.Kind == frame.Next || op.Kind == frame.Start) && s.extra(i).Schedule == "" {
		return senseless(op, "the timer has no schedule")
	}
	s.change(h, op, i, r)
	return nil
}

// change applies an operation that attempted has checked.
func (s *State) change(h *frame.Header, op *frame.Op, i uint32, r *record) {
	switch op.Kind {
	case frame.End:
		s.finished(i, r)
		s.remove(i, r)
		return
	case frame.Begin:
		s.begin(i, r, op)
	case frame.Fail, frame.Die:
		s.failed(h, op, i, r)
	case frame.Revive:
		s.leave(i, r)
		r.due, r.wall, r.attempt = op.Due, false, 0
		s.wait(i, r, r.due)
	case frame.Next:
		s.nextRun(h, i, r, op)
	case frame.Start:
		s.startRun(i, r, op)
	case frame.Expire:
		s.remove(i, r)
		return
	}
	s.list(i)
}

// begin applies a Begin. With a name, the attempt is left to whoever owns the log, and the timer waits for its end.
func (s *State) begin(i uint32, r *record, op *frame.Op) {
	r.attempt = op.Attempt
	if op.Name == 0 {
		s.begun[i] = struct{}{}
		delete(s.left, i)
		return
	}
	s.finished(i, r)
	s.leave(i, r)
	s.left[i] = op.Name
	s.waitUntil(i, r, false, op.Next)
}

// failed applies a Fail or a Die.
func (s *State) failed(h *frame.Header, op *frame.Op, i uint32, r *record) {
	s.finished(i, r)
	s.leave(i, r)
	r.attempt = op.Attempt
	e := s.extra(i)
	e.Fail(h, op)
	if op.Kind == frame.Die {
		s.died(i, r, e)
		return
	}
	s.setExtra(i, e)
	s.waitUntil(i, r, false, op.Next)
}

// finished records that the attempt of r has ended by itself, so that the attempt is not reported as superseded.
func (s *State) finished(i uint32, r *record) {
	if r.state == running {
		r.state = waiting
	}
	delete(s.begun, i)
	delete(s.fails, i)
}

// stopped applies a Close, which means that the owner stopped in order. Attempts without an end in the log did not
// crash the process, and some may never have begun. So these attempts don't count, and their timers are due.
func (s *State) stopped() {
	if s.owned { // no frame follows the Close
		return
	}
	for _, ref := range s.Begun() {
		i := uint32(ref)
		r := s.records.at(i)
		until, _ := s.until(i, r)
		if r.attempt = max(r.attempt, 1) - 1; r.attempt == 0 && until == r.due { // otherwise it was postponed
			s.unwheel(i, r)
			s.wait(i, r, r.due)
		}
	}
	clear(s.begun)
}

// leave undoes what belongs to the present status of a timer. For example, it takes a waiting timer off its wheel.
func (s *State) leave(i uint32, r *record) {
	switch r.state {
	case waiting:
		s.unwheel(i, r)
	case dead:
		s.dead--
		s.unbury(i, r)
	case running:
		if s.Superseded != nil {
			s.Superseded(Ref(i))
		}
	case held:
		if s.Withdrawn != nil {
			s.Withdrawn(Ref(i))
		}
	}
	delete(s.begun, i)
	delete(s.left, i)
	delete(s.fails, i)
	delete(s.next, i)
	r.state = waiting
}
