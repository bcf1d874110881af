package partition

import (
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// attempt adds the begin of an attempt, or the result of an attempt, to the frame. It reports false if the key has
// another timer by now, or if the attempt was ended by its token.
func (d *draft) attempt(it *item) bool {
	was, hash := d.look(it.job.key)
	if it.kind == expired {
		return d.expire(&it.job, was, hash)
	}
	if was.after != live || was.id != it.job.id || it.of != nil && it.of.ended {
		return false
	}
	if it.kind == begun {
		return d.begin(&it.job, was, hash)
	}
	if it.kind == left {
		if name, _ := d.token(&was); name != it.name {
			return false
		}
	}
	d.result(it, was, hash)
	return true
}

// begin adds what must be in the log before an attempt begins. It reports false if the attempt does not begin.
func (d *draft) begin(j *job, was change, hash uint64) bool {
	if j.starts && !d.startRun(j, was, hash) {
		return false
	}
	if j.begins {
		now := was
		now.attempt = j.attempt
		d.Add(&frame.Op{Kind: frame.Begin, Attempt: j.attempt, Key: j.key, ID: j.id})
		d.note(hash, was.after, now)
	}
	return true
}

// result adds the result of an attempt.
func (d *draft) result(it *item, was change, hash uint64) {
	op := frame.Op{Kind: frame.End, Key: it.job.key, ID: it.job.id, Attempt: it.job.attempt}
	now := was
	now.attempt, now.ref, now.name = it.job.attempt, 0, 0
	switch {
	case it.kind == ended:
		if d.goesOn(it, was, hash) {
			return
		}
		now.after = absent
	case it.kind == left:
		leave(&op, &now, it)
	case it.last:
		if d.goesOn(it, was, hash) {
			return
		}
		op.Kind, now.after = frame.Die, dead
		op.Error = it.text
		now.extra.Fail(d.Header(), &op)
	default:
		op.Kind, op.Next, op.Error = frame.Fail, state.Add(d.now, int64(it.wait)), it.text
		if it.again {
			op.Attempt--
		}
		now.attempt, now.next = op.Attempt, op.Next
		now.extra.Fail(d.Header(), &op)
	}
	d.Add(&op)
	d.note(hash, was.after, now)
}
