package state

import "github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"

// Extra holds the fields that most timers don't need. The Extras are not in the records, so that timers without an
// Extra take no memory for it.
type Extra struct {
	Schedule  string // when the timer runs again, or ""
	Trace     string // the trace context of the call that has set the timer, or ""
	Missed    uint32 // the number of missed runs of the schedule that this run makes up for
	Started   bool   // an attempt of this run has begun
	LastError string // why the last attempt that failed did so, or ""
	Failed    int64  // the time of the frame with that failure
	// Debounced is for a timer that each further call of its kind moves, until an attempt begins. Since is then the time of
	// the first of these calls, in the owner's time.
	Debounced bool
	Since     int64
	Paused    bool // no attempt begins. The timer has a Schedule, and is not dead
}

// size returns about the number of bytes that e takes in the log.
func (e *Extra) size() int64 {
	return int64(frame.MoreSize(e.Schedule, e.Trace, e.LastError, e.Debounced))
}

// extraOf returns the Extra of an operation.
func extraOf(m *frame.More) Extra {
	return Extra{string(m.Schedule), string(m.Trace), m.Missed, m.Started, string(m.Error), m.Failed, m.Debounced, m.Since, m.Paused}
}

// extra returns the Extra of a timer.
func (s *State) extra(i uint32) Extra {
	if e := s.extras[i]; e != nil {
		return *e
	}
	return Extra{}
}

// setExtra sets the Extra of a timer.
func (s *State) setExtra(i uint32, e Extra) {
	was := s.extra(i)
	if e == was {
		return
	}
	s.bytes += e.size() - was.size()
	if e == (Extra{}) {
		delete(s.extras, i)
	} else {
		s.extras[i] = &e
	}
}

// Fail records why an attempt has failed, if the operation says so. A run of debounced calls ends with an attempt that
// counts.
func (e *Extra) Fail(h *frame.Header, op *frame.Op) {
	if op.Attempt > 0 {
		e.Debounced, e.Since = false, 0
	}
	if len(op.Error) > 0 || op.Kind == frame.Die {
		e.LastError, e.Failed = string(op.Error), h.Time
	}
	if op.Kind == frame.Die {
		e.Paused = false
	}
}

// Forgive forgets why an attempt has failed.
func (e *Extra) Forgive() { e.LastError, e.Failed = "", 0 }

// Move applies a Move. A run of a schedule counts as not started after that, and makes up for the same number of other
// runs as before. A run of debounced calls ends.
func (e *Extra) Move() {
	e.Started, e.Debounced, e.Since = false, false, 0
	e.Forgive()
}

// died makes a timer dead. The timer then waits for the end of the time for which it is kept.
func (s *State) died(i uint32, r *record, e Extra) {
	r.state = dead
	s.dead++
	s.setExtra(i, e)
	if s.built {
		s.bury(i, r)
	}
}

// End applies the end of a run of a schedule. The last error stays until a run succeeds.
func (e *Extra) End(h *frame.Header, op *frame.Op) {
	e.Missed, e.Started = 0, false
	if e.Fail(h, op); op.How == frame.Returned {
		e.Forgive()
	}
}

// nextRun makes a timer wait for the next run of its schedule.
func (s *State) nextRun(h *frame.Header, i uint32, r *record, op *frame.Op) {
	s.finished(i, r)
	s.leave(i, r)
	r.due, r.wall, r.id, r.attempt = op.Due, true, op.ID, 0
	e := s.extra(i)
	e.End(h, op)
	s.setExtra(i, e)
	s.wait(i, r, r.due)
}

// startRun records that the first attempt of a run begins.
func (s *State) startRun(i uint32, r *record, op *frame.Op) {
	e := s.extra(i)
	e.Started = true
	if op.Moved {
		e.Missed, r.due, r.wall = op.Missed, op.Due, true
		if r.state == waiting && r.attempt == 0 { // possible only while this process follows the log of another owner
			s.unwheel(i, r)
			s.wait(i, r, r.due)
		}
	}
	s.setExtra(i, e)
}
