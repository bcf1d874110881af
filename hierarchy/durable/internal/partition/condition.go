package partition

import (
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// Condition determines which timers a Set replaces. It is evaluated when the frame is made: the log has only the Set.
// If the timer of a key is dead, or there is none, the key is set under any condition.
type Condition uint8

const (
	Always     Condition = iota
	IfAbsent             // none
	IfSooner             // timers whose next attempt is due later than the new timer
	IfLater              // timers whose next attempt is due sooner than the new timer
	Conditions           // the number of conditions
)

// holds reports whether the condition of the Set a holds for was, the current state of its key.
func (d *draft) holds(a *Op, was *change) bool {
	if a.If == Always || was.after != live {
		return true
	}
	if a.If == IfAbsent {
		return false
	}
	due := d.until(was)
	if a.If == IfSooner {
		return a.Due < due
	}
	return a.Due > due
}

// until returns when the next attempt of a key's timer is due, in the owner's time. If an attempt is in progress, until
// returns when that attempt was due.
func (d *draft) until(was *change) int64 {
	switch {
	case was.ref != 0:
		return untilOf(d.state, was.ref, d.now, d.wall)
	case was.next != 0 && was.name == 0:
		return was.next
	}
	due := was.due
	if was.wall {
		due = fromWall(due, d.now, d.wall)
	}
	if was.name != 0 {
		due = min(due, d.now)
	}
	return due
}

// untilOf is until for a timer of the state.
func untilOf(s *state.State, ref state.Ref, now, wall int64) int64 {
	due, isWall := s.Until(ref)
	if isWall {
		due = fromWall(due, now, wall)
	}
	if s.IsDue(ref) {
		due = min(due, now)
	}
	return due
}

// fromWall converts a wall time to the owner's time.
func fromWall(t, now, wall int64) int64 { return state.Add(now, state.Sub(t, wall)) }

// takesOut reports whether the operation, if it is committed, returns something to its caller: the value that it
// removed or, with Whole, the timer that the key had before, in the encoding that Was decodes.
func (a *Op) takesOut() bool { return a.Kind == frame.Remove || a.Whole }

// takenOut returns what an operation that is committed returns to its caller.
func (d *draft) takenOut(a *Op, was *change) string {
	if !a.Whole {
		return was.text()
	}
	if was.after == absent || a.Kind != frame.Remove && was.after == dead {
		return ""
	}
	t := d.timer(was)
	t.Key, t.Value = "", was.text()
	return string(t.Append(nil))
}

// timer returns the timer of a key. If the timer's handler has not been called yet, claim prevents the call until the
// frame is settled, so that the returned timer is still right when the operation is committed.
func (d *draft) timer(was *change) state.Timer {
	switch {
	case was.ref == 0:
		return state.Timer{ID: was.id, Due: was.due, Wall: was.wall, Attempt: was.attempt, Next: was.next,
			Dead: was.after == dead, Extra: was.extra}
	case was.after == live && !d.claim(was.ref, was.id) && d.state.IsRunning(was.ref, was.id):
		return d.state.Timer(was.ref) // the attempt in progress does not count
	}
	return d.state.Listed(was.ref)
}

// Was decodes what an operation with Whole returned: the timer that the key had before, without the key. ok is false if
// there was no such timer.
func Was(text string) (t state.Timer, ok bool) {
	if text == "" {
		return t, false
	}
	r := frame.Reader{B: []byte(text)}
	t = state.ReadTimer(&r)
	return t, r.Ended()
}
