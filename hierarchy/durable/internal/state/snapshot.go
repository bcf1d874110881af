package state

import "slices"

// Snapshot holds all timers as they were when it was made. It is read in batches while the timers change: a timer that
// changes before it is read is copied first. A Snapshot must be closed.
type Snapshot struct {
	state *State
	next  uint32
	limit uint32
	aside map[uint32]Timer // copies of timers that changed. Invariant: their records are from next on, before limit
}

// Snapshot returns a new Snapshot. Until it is closed, no record is used again.
func (s *State) Snapshot() *Snapshot {
	s.records.pinned++
	n := &Snapshot{s, 1, s.records.next, make(map[uint32]Timer)}
	s.snapshots = append(s.snapshots, n)
	return n
}

// Take calls f for the timers in the next n records. It reports whether there are more.
func (n *Snapshot) Take(records int, f func(Timer)) bool {
	for ; records > 0 && n.next < n.limit; records-- {
		i := n.next
		n.next++
		if t, ok := n.aside[i]; ok {
			delete(n.aside, i)
			f(t)
		} else if n.state.records.timer(i) != nil {
			f(n.state.Logged(Ref(i)))
		}
	}
	return n.next < n.limit
}

// Close releases the snapshot.
func (n *Snapshot) Close() {
	n.state.records.pinned--
	n.state.snapshots = slices.DeleteFunc(n.state.snapshots, func(other *Snapshot) bool { return other == n })
}

// preserve copies the timer of a record for all snapshots that need it. It is called before the timer changes.
func (s *State) preserve(i uint32) {
	if len(s.snapshots) > 0 {
		s.setAside(i, s.Logged(Ref(i)))
	}
}

// preservePopped is preserve for a timer that was just taken off a wheel, the one for wall times if wall is true. until
// is the time for which the timer had waited there.
func (s *State) preservePopped(i uint32, until int64, wall bool) {
	if len(s.snapshots) == 0 {
		return
	}
	t := s.Logged(Ref(i))
	if !t.Running {
		t.Next = s.records.at(i).next(until, wall)
	}
	s.setAside(i, t)
}

func (s *State) setAside(i uint32, t Timer) {
	for _, n := range s.snapshots {
		if _, ok := n.aside[i]; !ok && n.next <= i && i < n.limit {
			n.aside[i] = t
		}
	}
}

// Logged is Listed for a timer that is exported. Its Attempt is the last attempt that is in the log, since another owner
// would not know of a later attempt. An attempt that was left and goes on does not count: an Import ends it, and begins
// it again.
func (s *State) Logged(ref Ref) Timer {
	t := s.Listed(ref)
	t.Attempt = s.records.at(uint32(ref)).attempt
	if s.Left(ref) != 0 {
		t.Attempt = max(t.Attempt, 1) - 1
	}
	return t
}
