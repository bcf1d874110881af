package state

import "github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"

// Extra holds the fields that most timers don't need. The Extras are not in the records, so that timers without an
// Extra take no memory for it.
type Extra struct {
	Schedule  string // when the timer runs again, or ""
	Trace     string // the trace context of the call that has set the timer, or ""
	Missed    uint32 // the number of missed runs of the schedule that this run makes up for
	Started   bool   // an attempt of this run has begun
	LastError string // of a dead timer: why its last attempt failed
	Died      int64  // of a dead timer: the time of the frame with its death
}

// size returns about the number of bytes that e takes in the log.
func (e *Extra) size() int64 { return int64(frame.MoreSize(e.Schedule, e.Trace, e.LastError)) }

// extraOf returns the Extra of an operation.
func extraOf(m *frame.More) Extra {
	return Extra{string(m.Schedule), string(m.Trace), m.Missed, m.Started, string(m.Error), m.Died}
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
	s.bytes += e.size() - was.size()
	switch {
	case e != Extra{}:
		s.extras[i] = &e
	case was != Extra{}:
		delete(s.extras, i)
	}
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

// nextRun makes a timer wait for the next run of its schedule.
func (s *State) nextRun(i uint32, r *record, op *frame.Op) {
	s.finished(i, r)
	s.leave(i, r)
	r.due, r.wall, r.id, r.attempt = op.Due, true, op.ID, 0
	e := s.extra(i)
	e.Missed, e.Started = 0, false
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
