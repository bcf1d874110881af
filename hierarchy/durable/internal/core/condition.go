package core

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
func (o *Owner) holds(a *Op, was *change) bool {
	if a.If == Always || was.after != live {
		return true
	}
	if a.If == IfAbsent {
		return false
	}
	due, until := a.Due, o.until(was)
	if a.Kind == frame.SetAt {
		due = fromWall(due, o.now, o.wall)
	}
	if a.If == IfSooner {
		return due < until
	}
	return due > until
}

// until is Until for the timer of a key, given what the frame already holds.
func (o *Owner) until(was *change) int64 {
	switch {
	case was.ref != 0:
		return Until(o.State, was.ref, o.now, o.wall)
	case was.next != 0 && was.name == 0:
		return was.next
	}
	due := was.due
	if was.wall {
		due = fromWall(due, o.now, o.wall)
	}
	if was.name != 0 {
		due = min(due, o.now)
	}
	return due
}

// Until returns when the next attempt of a timer is due, in the owner's time. If an attempt is in progress, Until returns
// when that attempt was due.
func Until(s *state.State, ref state.Ref, now, wall int64) int64 {
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

// mayReturn reports whether the operation may return something to its caller.
func (a *Op) mayReturn() bool { return a.Kind == frame.Remove || a.Whole }

// returns reports whether the operation returns something to its caller. took tells whether it was committed. A Remove
// returns the value that it removed. With Whole, the result is a timer, in the encoding that Was decodes:
//   - of a Set or SetAt with a condition that did not hold: the timer that the key has;
//   - of a Move or MoveAt: the timer that was moved, whose ID is not known yet;
//   - of a Revive: the timer that was revived;
//   - otherwise: the timer that the key had before, if any.
func (a *Op) returns(took bool) bool {
	if a.If != Always {
		return a.Whole && !took
	}
	return took && a.mayReturn()
}

// returned returns what an operation returns to its caller.
func (o *Owner) returned(a *Op, was *change, took bool) string {
	var t state.Timer
	switch {
	case !a.Whole:
		return was.text()
	case !took:
		t = o.present(was)
	case a.Kind == frame.Move, a.Kind == frame.MoveAt:
		t.Schedule = was.extra.Schedule
	case a.Kind == frame.Revive:
		t.ID, t.Due, t.Schedule = was.id, o.now, was.extra.Schedule
	case was.after == absent, a.Kind != frame.Remove && was.after == dead:
		return ""
	default:
		t = o.timer(was)
	}
	t.Key, t.Value = "", was.text()
	return string(t.Append(make([]byte, 0, t.Size())))
}

// present returns the timer of a key as it is now.
func (o *Owner) present(was *change) state.Timer {
	if was.ref == 0 {
		return state.Timer{ID: was.id, Due: was.due, Wall: was.wall, Attempt: was.attempt, Next: was.next,
			Dead: was.after == dead, Extra: was.extra}
	}
	return was.withPause(o.State.Listed(was.ref))
}

// withPause returns a timer of the state as it is after the frame's Pauses and Resumes.
func (c *change) withPause(t state.Timer) state.Timer {
	t.Paused = c.extra.Paused
	return t
}

// timer returns the timer of a key that the operation takes away from it. If its handler has not been called yet, it is
// not called before the outcome of the frame is known, so that its attempt does not count.
func (o *Owner) timer(was *change) state.Timer {
	if was.ref != 0 && was.after == live && !o.claim(was.ref, was.id) {
		return was.withPause(o.State.Uncalled(was.ref))
	}
	return o.present(was)
}

// Was decodes what an operation with Whole returned: a timer without its key. ok is false if there was none.
func Was(text string) (t state.Timer, ok bool) {
	if text == "" {
		return t, false
	}
	r := frame.Reader{B: []byte(text)}
	t = state.ReadTimer(&r)
	return t, r.Ended()
}
