package core

import (
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// token is tokenOf, given what the frame already holds.
func (o *Owner) token(was *change) (name uint64, attempt uint32) {
	if was.ref == 0 {
		return was.name, was.attempt
	}
	return o.tokenOf(was.ref)
}

// end ends the attempt that an operation names, if it is in progress. The number must be right, too: MaxAttempts and
// Backoff go by it, and it comes from whoever has the token.
func (o *Owner) end(a *Op) bool {
	was, hash := o.look(a.Key)
	name, attempt := o.token(&was)
	if was.after != live || name == 0 || name != a.Ending.Name || attempt != a.Ending.Attempt {
		return false
	}
	_, ref, _ := o.State.Find(a.Key)
	e := a.Ending.event
	e.Job.Ref, e.Job.ID = ref, was.id
	e.Job.schedule, _ = parseSchedule(was.extra.Schedule)
	o.own(name)
	o.result(&e, was, hash)
	t := o.State.Timer(ref)
	o.died(&e, &t)
	return true
}

// Death is a timer, or a run, that dies by the frame, although no handler runs here that has failed.
type Death struct {
	Event
	Firing Firing
}

// died records a death, if the event is the timer's last failed attempt.
func (o *Owner) died(e *Event, t *state.Timer) {
	if e.Last {
		o.Deaths = append(o.Deaths, Death{*e, o.Firing(t, e.Job.Number)})
	}
}

// leave adds the record of an attempt that is left to the frame, in place of its begin.
func leave(op *frame.Op, now *change, e *Event) {
	op.Kind, op.Name, op.Next = frame.Begin, e.name, e.until
	now.next, now.name = e.until, e.name
}
