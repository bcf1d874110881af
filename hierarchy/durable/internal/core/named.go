package core

import (
	"encoding/binary"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// This file shows how an Owner handles calls with a RequestID. The answers to such calls are in the log.

// named adds the operations of c, which has a RequestID. If the log or the frame already has the answer to a copy of
// the request, named adds nothing, and c gets that answer.
func (o *Owner) named(c *Call) error {
	id := c.Request.key()
	answer, place, ok := o.answer(id)
	if id.Serial < max(o.floors[id.Caller], o.State.Floor(id.Caller)) {
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
	if latest, drafted := o.latest[id.Caller]; !drafted {
		if err := o.standing(id); err != nil {
			return err
		}
	} else if id.Serial < latest { // it has been passed once the frame is in the log, and not if the frame never is
		c.place, c.result = 0, ErrPassed
		return nil
	}
	if err := CheckSize(len(c.Ops), c.size, o.limits.Message-frame.Overhead); err != nil {
		return err
	}
	o.addNamed(c, o.MaxPending, o.most())
	return nil
}

// drafted is an answer in the frame that is being made.
type drafted struct {
	parts string
	place int // Call.place
}

// answer returns the answer to a request that the log or the frame already has.
func (o *Owner) answer(id state.Request) (a state.Answer, place int, ok bool) {
	if in, ok := o.answers[id]; ok {
		return state.Answer{Parts: in.parts, When: o.Header().Time}, in.place, true
	}
	a, ok = o.State.Answer(id)
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

// standing returns an error if the log says that a request without an answer must not go into it.
func (o *Owner) standing(id state.Request) error {
	switch o.State.Standing(id) {
	case state.Passed:
		return ErrPassed
	case state.Old:
		return ErrOld
	}
	return nil
}

// addNamed adds, for each part of c, the operations that change something, and then the answer. limit is the size of
// the frame.
func (o *Owner) addNamed(c *Call, pending, limit int) {
	c.place, c.Time = o.Len(), o.Header().Time
	from, room, ok := 0, limit-o.Size()-c.size, true
	for i := range c.parts() {
		p := &c.parts()[i]
		ops, took := c.Ops[from:p.End], c.Took[from:p.End]
		clear(took)
		p.Err, p.Value = nil, ""
		if size := o.valueSize(ops); size > max(0, room) && size > 0 && (i > 0 || len(ops) == 1) {
			p.Err = ErrLater
		} else if refused(ops) {
			p.Err = ErrSchedule
		} else if o.values, ok = o.addOps(ops, took, pending, o.values[:0]); !ok {
			p.Err = ErrFull
		} else {
			p.Value = answerValue(ops, o.values, min(room, maxValues))
			clear(o.values) // the values may be large
			room -= len(p.Value)
		}
		from = p.End
	}
	c.result = c.whole()
	o.remember(c)
}

// remember adds the answer of c to the frame.
func (o *Owner) remember(c *Call) {
	if o.answers == nil {
		o.answers, o.floors = make(map[state.Request]drafted), make(map[uint64]uint64)
		o.latest = make(map[uint64]uint64)
	}
	id := c.Request
	o.room = c.AppendAnswer(o.room[:0])
	o.answers[id.key()] = drafted{string(o.room), c.place}
	o.floors[id.Caller] = max(o.floors[id.Caller], id.Floor)
	o.latest[id.Caller] = max(o.latest[id.Caller], id.Serial)
	o.Add(&frame.Op{Kind: frame.Request, Caller: id.Caller, Serial: id.Serial, Floor: id.Floor,
		When: o.Header().Time, Answers: o.room})
}

// answerRoom returns the number of operations, and of bytes in addition to c.size, that the answer of c needs in the
// frame. The number of bytes is limited. Values for which there is no room are left out of the answer, or the parts
// that return them get ErrLater.
func (o *Owner) answerRoom(c *Call) (n, size int) {
	if !c.Request.named() {
		return 0, 0
	}
	from := 0
	for _, p := range c.parts() {
		size += o.valueSize(c.Ops[from:p.End])
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
func (o *Owner) valueSize(ops []Op) (size int) {
	for i := range ops {
		if !ops[i].mayReturn() {
			continue
		}
		was, _ := o.look(ops[i].Key)
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
