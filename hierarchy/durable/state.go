package durable

import (
	"fmt"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// State is the state of a timer.
type State int

const (
	StateWaiting State = iota // no handler is running: the timer is not due, or waits for a retry or for a free handler
	StateRunning              // the timer's handler was called, and the result is not in the log yet
	StateDead                 // the timer's last attempt failed
)

// String returns "waiting", "running" or "dead".
func (s State) String() string {
	switch s {
	case StateWaiting:
		return "waiting"
	case StateRunning:
		return "running"
	case StateDead:
		return "dead"
	}
	return fmt.Sprintf("State(%d)", int(s))
}

// entryOf returns the entry of a timer, without key, value and schedule.
func entryOf[K comparable, V any](t *state.Timer) Entry[K, V] {
	e := Entry[K, V]{Due: timeOf(t.Due), ID: ID{t.ID}, Attempt: int(t.Attempt), Paused: t.Paused, LastError: t.LastError}
	if t.Failed != 0 {
		e.LastFailed = timeOf(t.Failed)
	}
	switch {
	case t.Dead:
		e.State = StateDead
	case t.Running:
		e.State = StateRunning
	case t.Next != 0:
		e.Next = timeOf(t.Next)
	}
	return e
}
