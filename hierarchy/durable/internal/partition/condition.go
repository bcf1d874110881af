package partition

import (
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// Condition says which timers a Set replaces. It is evaluated when the frame is made: the log has only the Set. A key
// whose timer is dead, like one without a timer, is set under any condition.
type Condition uint8

const (
	Always     Condition = iota
	IfAbsent             // none
	IfSooner             // those whose next attempt is due later than the new timer
	IfLater              // those whose next attempt is due sooner
	Conditions           // how many there are
)

// holds reports whether the condition of a Set holds for what the key is.
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

// until returns when the next attempt of a key's timer is due, in the owner's time. If one is under way, that is when
// the timer was due.
func (d *draft) until(was *change) int64 {
	switch {
	case was.ref != 0:
		return untilOf(d.state, was.ref, d.now, d.wall)
	case was.attempt > 0:
		return was.next
	case was.wall:
		return fromWall(was.due, d.now, d.wall)
	}
	return was.due
}

// untilOf returns until for a timer of the state.
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

// takesOut reports whether a committed operation returns something to its caller: the value that it removed or, with
// Whole, the timer that was there, in the encoding that Was reads.
func (a *Op) takesOut() bool { return a.Kind == frame.Remove || a.Whole }

// takenOut returns what an operation that is committed takes out of the key.
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

// timer returns the timer of a key. If its handler has not been called yet, claim prevents that until the frame is in
// the log or lost, so the result is still true when the operation is committed.
func (d *draft) timer(was *change) state.Timer {
	switch {
	case was.ref == 0:
		return state.Timer{ID: was.id, Due: was.due, Wall: was.wall, Attempt: was.attempt, Dead: was.after == dead, Extra: was.extra}
	case was.after == live && !d.claim(was.ref, was.id) && d.state.IsRunning(was.ref, was.id):
		return d.state.Timer(was.ref) // its attempt does not count
	}
	return d.state.Listed(was.ref)
}

// Was decodes what an operation with Whole has returned: the timer that was there, without its key. ok is false if
// there was none.
func Was(text string) (t state.Timer, ok bool) {
	if text == "" {
		return t, false
	}
	r := frame.Reader{B: []byte(text)}
	t = state.ReadTimer(&r)
	return t, r.Ended()
}
