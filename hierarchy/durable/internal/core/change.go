package core

import (
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// change is the state of a key after an operation of the frame.
type change struct {
	key   []byte
	value string // the value of the timer, unless raw is not nil and holds it
	raw   []byte
	after after
	id    frame.ID

	due     int64 // the timer's due time, which is a wall time if wall is set
	wall    bool
	attempt uint32 // the last attempt that the log has
	next    int64  // when the next attempt is due, or 0 if that is due or ref is not 0
	name    uint64 // the name of the attempt, if the frame leaves it
	extra   state.Extra
	begun   bool      // the frame begins an attempt
	paused  bool      // the frame has paused the timer, so what was about to begin does not, even if it was resumed
	ref     state.Ref // the timer in the state, if the frame has not changed it; otherwise 0
}

// text returns the value.
func (c *change) text() string {
	if c.raw != nil {
		return string(c.raw)
	}
	return c.value
}

// after says whether a key has a timer after an operation, and whether that timer is dead.
type after uint8

const (
	absent after = iota
	live
	dead
)

// An Import stores a timer as it was in another log, with its ID and its attempts. It replaces the timer of the key.

// imported returns the state of a key after an Import.
func imported(a *Op) change {
	t := a.Timer
	c := change{key: a.Key, raw: a.Value, after: live, id: t.ID, due: t.Due, wall: t.Wall, attempt: t.Attempt,
		next: t.Next, extra: t.Extra}
	if c.attempt > 0 && c.next == 0 { // the timer did not wait for a retry, so its next attempt is due at once
		c.next = t.Due
	}
	if t.Dead {
		c.after = dead
	}
	return c
}

// isStorable reports whether the text is a schedule that can be stored with a timer.
func isStorable(text string) bool {
	_, err := parseSchedule(text)
	return text == "" || err == nil && len(text) <= MaxSchedule
}

// importOf returns the Import operation that changes a key to c.
func importOf(a *Op, c *change) frame.Op {
	e := &c.extra
	op := frame.Op{Kind: frame.Import, Wall: c.wall, Attempt: c.attempt, ID: c.id, Due: c.due, Next: c.next,
		Key: a.Key, Value: a.Value, More: frame.More{Schedule: []byte(e.Schedule), Trace: []byte(e.Trace),
			Missed: e.Missed, Started: e.Started, Error: []byte(e.LastError), Failed: e.Failed,
			Debounced: e.Debounced, Since: e.Since, Paused: e.Paused}}
	switch {
	case c.after == dead:
		op.State = frame.Dead
	case c.attempt == 0 && c.next != 0:
		op.State = frame.Postponed
	}
	return op
}
