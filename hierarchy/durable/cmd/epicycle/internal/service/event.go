package service

import (
	"strings"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// Event is what has happened to a timer.
type Event struct {
	Kind    string    `json:"event"`
	At      time.Time `json:"at"`
	Key     string    `json:"key,omitempty"`
	ID      string    `json:"id,omitempty"`
	Attempt int       `json:"attempt,omitempty"`
	Error   string    `json:"error,omitempty"`
}

// The kinds of events.
const (
	EventSet     = "set"
	EventMoved   = "moved" // or revived
	EventRemoved = "removed"
	EventPaused  = "paused"
	EventResumed = "resumed"
	EventBegun   = "begun"
	EventDone    = "done"
	EventFailed  = "failed" // it is tried again
	EventDead    = "dead"   // it is not tried again
)

// EventKinds are all kinds.
var EventKinds = []string{EventSet, EventMoved, EventRemoved, EventPaused, EventResumed, EventBegun, EventDone, EventFailed, EventDead}

// cost returns about how many bytes an event takes.
func (e *Event) cost() int { return 150 + len(e.Key) + len(e.ID) + len(e.Error) }

func eventOf(kind, key string, id durable.ID, attempt int, err error) *Event {
	e := &Event{Kind: kind, At: time.Now().UTC(), Key: key, Attempt: attempt}
	if id != (durable.ID{}) {
		e.ID = id.String()
	}
	if err != nil {
		e.Error = shortened(err.Error(), maxEventError)
	}
	return e
}

// maxEventError limits the text of an error in an event, as the log limits it.
const maxEventError = 1 << 10

// shortened returns the beginning of a text, of no more than some bytes, or the text.
func shortened(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most-len("…")], "") + "…"
}

// endOf returns the kind of the event of an attempt that has ended.
func endOf(result error) string {
	switch {
	case result == nil:
		return EventDone
	case isFinal(result):
		return EventDead
	}
	return EventFailed
}
