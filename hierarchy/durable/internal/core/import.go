package core

import "github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"

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
			Missed: e.Missed, Started: e.Started, Error: []byte(e.LastError), Failed: e.Failed}}
	switch {
	case c.after == dead:
		op.State = frame.Dead
	case c.attempt == 0 && c.next != 0:
		op.State = frame.Postponed
	}
	return op
}
