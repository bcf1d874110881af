package partition

import (
	"fmt"

	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// RequestID names a Call, so that a repetition of it takes hold once. The zero RequestID names none.
// A caller takes a random number, and counts its requests.
type RequestID = state.Request

// errOtherRequest is for a RequestID that had another number of operations.
var errOtherRequest = fmt.Errorf("%w: durable: the request's id was used for another request", hierarchy.ErrArgument)

// answerAgain answers c as its first copy was, if that is remembered, or is in the frame that is
// being made. mu is held.
func (p *Partition) answerAgain(w *written, c *Call) (done bool) {
	if first := p.draft.requests[c.Request]; first != nil {
		w.copies = append(w.copies, copied{c, first})
		return true
	}
	a, ok := p.state.Answer(c.Request)
	if !ok {
		return false
	}
	c.take(a)
	w.calls = append(w.calls, c)
	return true
}

// take takes over the answer to an earlier copy.
func (c *Call) take(a state.Answer) {
	switch {
	case a.Took == "" && len(c.Asks) > 0:
		c.result = ErrFull
	case len(a.Took) != (len(c.Asks)+7)/8:
		c.result = errOtherRequest
	default:
		for i := range c.Asks {
			c.Took[i] = a.Took[i/8]>>(i%8)&1 != 0
		}
		c.Value = a.Value
	}
}

// copied is a Call that has the same RequestID as one before it in the frame.
type copied struct{ call, first *Call }

// answer answers a copy when the frame is in the log.
func (d copied) answer() {
	if len(d.call.Asks) != len(d.first.Asks) {
		d.call.answer(errOtherRequest)
		return
	}
	copy(d.call.Took, d.first.Took)
	d.call.Value = d.first.Value
	d.call.answer(d.first.result)
}

// remember adds the answer of c to the frame.
func (d *draft) remember(c *Call) {
	a := state.Answer{When: d.Header().Time}
	if c.result == nil {
		bits := make([]byte, (len(c.Asks)+7)/8)
		for i, took := range c.Took[:len(c.Asks)] {
			if took {
				bits[i/8] |= 1 << (i % 8)
			}
		}
		a.Took = string(bits)
	}
	if len(c.Asks) == 1 {
		a.Value = c.Value
	}
	op := a.Op(c.Request)
	d.Add(&op)
	if d.requests == nil {
		d.requests = make(map[RequestID]*Call)
	}
	d.requests[c.Request] = c
}

// answerSize is what the answer of c needs in the frame at most: operations and bytes.
func (d *draft) answerSize(c *Call) (n, size int) {
	if c.Request == (RequestID{}) {
		return 0, 0
	}
	size = opBytes + len(c.Asks)/8
	if len(c.Asks) == 1 && c.Asks[0].Kind == frame.Remove {
		was, _ := d.look(c.Asks[0].Key)
		size += len(was.value) + len(was.raw)
	}
	return 1, size
}
