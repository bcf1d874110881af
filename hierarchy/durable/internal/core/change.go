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
