package core

import (
	"encoding/binary"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// This file shows how a draft handles calls with a RequestID. The answers to such calls are in the log.

// named adds the operations of c, which has a RequestID. If the log or the frame already has the answer to a copy of
// the request, named adds nothing, and c gets that answer.
func (d *Draft) named(c *Call) error {
	id := c.Request.key()
	answer, place, ok := d.answer(id)
	if id.Serial < max(d.floors[id.Caller], d.state.Floor(id.Caller)) {
		return ErrForgotten
	}
	if ok {
		var rest []byte
		c.place = place
		if rest, c.result = c.TakeAnswer([]byte(answer.Parts), Origin{answer.When, answer.ID}); len(rest) > 0 {
			c.result = errOtherRequest
		}
		c.First.Number -= Committed(c.Took)
		return nil
	}
	if err := d.standing(id); err != nil {
		return err
	}
	d.addNamed(c, d.cfg.MaxPending, d.most)
	return nil
}

// drafted is an answer in the frame that is being made.
type drafted struct {
	parts string
	place int // Call.place
}

// answer returns the answer to a request that the log or the frame already has.
func (d *Draft) answer(id state.Request) (a state.Answer, place int, ok bool) {
	if in, ok := d.answers[id]; ok {
		return state.Answer{Parts: in.parts, When: d.Header().Time}, in.place, true
	}
	a, ok = d.state.Answer(id)
	return a, known, ok
}

// Committed returns how many operations were committed.
func Committed(took []bool) (n uint64) {
	for _, t := range took {
		if t {
			n++
		}
	}
	return n
}

// standing returns an error if a request without an answer must not go into the log.
func (d *Draft) standing(id state.Request) error {
	st := d.state.Standing(id)
	if latest, ok := d.latest[id.Caller]; ok {
		st = state.Fresh
		if id.Serial < latest {
			st = state.Passed
		}
	}
	switch st {
	case state.Passed:
		return ErrPassed
	case state.Old:
		return ErrOld
	}
	return nil
}

// addNamed adds, for each part of c, the operations that change something, and then the answer. limit is the size of
// the frame.
func (d *Draft) addNamed(c *Call, pending, limit int) {
	c.place, c.Time = d.Len(), d.Header().Time
	from, room, ok := 0, limit-d.Size()-c.size, true
	for i := range c.parts() {
		p := &c.parts()[i]
		ops, took := c.Ops[from:p.End], c.Took[from:p.End]
		clear(took)
		p.Err, p.Value = nil, ""
		if size := d.valueSize(ops); size > max(0, room) && size > 0 && (i > 0 || len(ops) == 1) {
			p.Err = ErrLater
		} else if refused(ops) {
			p.Err = ErrSchedule
		} else if d.values, ok = d.addOps(ops, took, pending, d.values[:0]); !ok {
			p.Err = ErrFull
		} else {
			p.Value = answerValue(ops, d.values, min(room, maxValues))
			clear(d.values) // the values may be large
			room -= len(p.Value)
		}
		from = p.End
	}
	c.result = c.whole()
	d.remember(c)
}

// remember adds the answer of c to the frame.
func (d *Draft) remember(c *Call) {
	if d.answers == nil {
		d.answers, d.floors = make(map[state.Request]drafted), make(map[uint64]uint64)
		d.latest = make(map[uint64]uint64)
	}
	id := c.Request
	d.room = c.AppendAnswer(d.room[:0])
	d.answers[id.key()] = drafted{string(d.room), c.place}
	d.floors[id.Caller] = max(d.floors[id.Caller], id.Floor)
	d.latest[id.Caller] = max(d.latest[id.Caller], id.Serial)
	d.Add(&frame.Op{Kind: frame.Request, Caller: id.Caller, Serial: id.Serial, Floor: id.Floor,
		When: d.Header().Time, Answers: d.room})
}

// answerRoom returns the number of operations, and of bytes in addition to c.size, that the answer of c needs in the
// frame. The number of bytes is limited. Values for which there is no room are left out of the answer, or the parts
// that return them get ErrLater.
func (d *Draft) answerRoom(c *Call) (n, size int) {
	if !c.Request.named() {
		return 0, 0
	}
	from := 0
	for _, p := range c.parts() {
		size += d.valueSize(c.Ops[from:p.End])
		from = p.End
	}
	return 1, min(size, FrameBytes/4)
}

// maxValues is the largest number of bytes of values in the answer to a part with several operations.
const maxValues = FrameBytes / 4

// answerValue returns the Value of a part whose operations returned these values or timers.
func answerValue(ops []Op, values []string, room int) string {
	switch {
	case len(values) == 0:
		return ""
	case len(ops) == 1:
		return values[0]
	}
	return string(frame.AppendValues(nil, values, room))
}

// valueSize returns the size of the values that a part returns, without the values that the answer leaves out.
func (d *Draft) valueSize(ops []Op) (size int) {
	for i := range ops {
		if !ops[i].mayReturn() {
			continue
		}
		was, _ := d.look(ops[i].Key)
		size += len(was.value) + len(was.raw)
		if was.after != absent && ops[i].Whole {
			t := state.Timer{Extra: was.extra}
			size += t.Size()
		}
		if was.after != absent && len(ops) > 1 {
			size += binary.MaxVarintLen32
		}
	}
	if len(ops) > 1 {
		size = min(size, maxValues)
	}
	return size
}
