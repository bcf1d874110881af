package core

import (
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// Record adds an event to the frame. It reports false if the key has another timer by now, if the attempt was ended by
// its token, or if it would begin although the timer is paused, was paused earlier in the frame, or is not due any more.
func (o *Owner) Record(e *Event) bool {
	was, hash := o.look(e.Job.Key)
	if e.kind == expired {
		return o.expire(&e.Job, was, hash)
	}
	if was.after != live || was.id != e.Job.ID || e.Of != nil && e.Of.Ended {
		return false
	}
	if e.kind == begun {
		// A timer that was paused in an earlier frame waits. Once it is resumed, another job of it may begin, or has begun.
		if was.paused || !o.State.Held(e.Job.Ref, e.Job.ID) || e.Job.starts && was.extra.Started {
			return false
		}
		return o.begin(&e.Job, was, hash)
	}
	if e.kind == left {
		if name, _ := o.token(&was); name != e.name {
			return false
		}
	}
	o.result(e, was, hash)
	return true
}

// begin adds what must be in the log before an attempt begins. It reports false if the attempt does not begin.
func (o *Owner) begin(j *Job, was change, hash uint64) bool {
	now := was
	if j.starts && !o.startRun(j, &now, hash) {
		return false
	}
	if j.begins {
		now.attempt, now.begun = j.Number, true
		o.Add(&frame.Op{Kind: frame.Begin, Attempt: j.Number, Key: j.Key, ID: j.ID})
	}
	o.note(hash, was.after, now)
	return true
}

// result adds the result of an attempt.
func (o *Owner) result(e *Event, was change, hash uint64) {
	op := frame.Op{Kind: frame.End, Key: e.Job.Key, ID: e.Job.ID, Attempt: e.Job.Number}
	now := was
	now.attempt, now.ref, now.name, now.begun = e.Job.Number, 0, 0, false
	switch {
	case e.kind == ended:
		if o.goesOn(e, was, hash) {
			return
		}
		now.after = absent
	case e.kind == left:
		leave(&op, &now, e)
	case e.Last:
		if o.goesOn(e, was, hash) {
			return
		}
		op.Kind, now.after = frame.Die, dead
		op.Error = e.text
		now.extra.Fail(o.Header(), &op)
	default:
		op.Kind, op.Next, op.Error = frame.Fail, state.Add(o.now, int64(e.wait)), e.text
		if e.again {
			op.Attempt--
		}
		now.attempt, now.next = op.Attempt, op.Next
		now.extra.Fail(o.Header(), &op)
	}
	o.Add(&op)
	o.note(hash, was.after, now)
}

// expire adds the removal of a dead timer to the frame. It reports false if the key has another timer by now.
func (o *Owner) expire(j *Job, was change, hash uint64) bool {
	if was.after != dead || was.id != j.ID {
		return false
	}
	o.Add(&frame.Op{Kind: frame.Expire, Key: j.Key, ID: j.ID})
	was.after = absent
	o.note(hash, dead, was)
	return true
}

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
	o.claim(ref, was.id) // if the attempt was left, its time may be over before the frame is in the log
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
