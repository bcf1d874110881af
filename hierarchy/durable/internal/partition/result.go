package partition

import (
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// attempt adds the begin of an attempt, or the result of an attempt, to the frame. It reports false if the key has
// another timer by now.
func (d *draft) attempt(it *item) bool {
	was, hash := d.look(it.job.key)
	if it.kind == expired {
		return d.expire(&it.job, was, hash)
	}
	if was.after != live || was.id != it.job.id {
		return false
	}
	op := frame.Op{Kind: frame.End, Key: it.job.key, ID: it.job.id}
	now := was
	now.attempt, now.ref = it.job.attempt, 0
	switch op.Attempt = it.job.attempt; {
	case it.kind == begun:
		if it.job.starts && !d.startRun(&it.job, was, hash) {
			return false
		}
		if !it.job.begins {
			return true
		}
		op.Kind, now.ref = frame.Begin, was.ref
	case it.kind == ended:
		if d.goesOn(it, was, hash) {
			return true
		}
		now.after = absent
	case it.last:
		if d.goesOn(it, was, hash) {
			return true
		}
		op.Kind, now.after = frame.Die, dead
		op.Error = it.text
		now.extra.Fail(d.Header(), &op)
	default:
		op.Kind, op.Next, op.Error = frame.Fail, state.Add(d.now, int64(it.wait)), it.text
		now.next = op.Next
		now.extra.Fail(d.Header(), &op)
	}
	d.Add(&op)
	d.note(hash, was.after, now)
	return true
}
