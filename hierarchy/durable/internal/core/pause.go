package core

import (
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// A timer with a schedule can be paused. No attempt of it begins until it is resumed; one that has begun goes on. A pause
// is on purpose, so runs that fall due in it are not missed, whatever the rule for these says: if what the timer waits
// for is still to come when it is resumed, it goes on waiting for that, and otherwise for the next run after now. Its
// schedule may be set again while it is paused, and it stays so.

// pauses returns the state of a key after a Pause or a Resume, and whether the operation changes the key.
func (o *Owner) pauses(a *Op, was change) (now change, took bool) {
	if was.after != live || was.extra.Schedule == "" {
		return was, false
	}
	now = was
	now.extra.Paused = a.Kind == frame.Pause
	now.paused = now.paused || now.extra.Paused
	if now.extra.Paused || !was.extra.Paused || !o.isOver(&was) {
		return now, true
	}
	s, err := parseSchedule(was.extra.Schedule)
	if err != nil { // the attempt fails, and tells why
		return now, true
	}
	o.claim(was.ref, was.id) // the run is skipped, so it must not begin before the frame is in the log
	next, ok := following(s, o.asWall(was.due, was.wall), o.wall)
	if !ok {
		return change{key: a.Key}, true
	}
	now = change{key: a.Key, value: was.value, raw: was.raw, after: live, due: next, wall: true, extra: was.extra}
	now.extra.Resume(&frame.Op{Moved: true})
	return now, true
}

// pauseOf returns the operation that a Pause or a Resume adds. Without a further run, a Resume removes the timer.
func pauseOf(a *Op, was, now *change) frame.Op {
	op := frame.Op{Kind: a.Kind, Key: a.Key, ID: was.id}
	switch {
	case now.after == absent:
		op.Kind = frame.Remove
	case a.Kind == frame.Resume && now.id != was.id:
		op.Moved, op.Due = true, now.due
	}
	return op
}

// isOver reports whether the time has passed that a paused timer waits for. If an attempt of it is in progress, or about
// to begin, it does not wait.
func (o *Owner) isOver(was *change) bool {
	until, wall := was.next, false
	switch {
	case was.begun:
		return false
	case was.ref != 0:
		var waits bool
		if until, wall, waits = o.State.Parked(was.ref); !waits {
			return false
		}
	case until == 0:
		until, wall = was.due, was.wall
	}
	if wall {
		return until <= o.wall
	}
	return until <= o.now
}

// asWall converts a due time to wall time, unless it is one.
func (o *Owner) asWall(due int64, wall bool) int64 {
	if wall {
		return due
	}
	return state.Add(due, state.Sub(o.wall, o.now))
}
