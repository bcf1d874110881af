package core

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// RequestID identifies a Call, so that the Call is committed only once, however often it is repeated. If Caller is 0,
// the Call has no identity.
type RequestID struct {
	Caller uint64 // a random number
	Serial uint64 // the number of the request among those of its caller
	Floor  uint64 // at most Serial. All requests with lower serial numbers were answered or given up
}

func (id RequestID) named() bool { return id.Caller != 0 }

func (id RequestID) key() state.Request { return state.Request{Caller: id.Caller, Serial: id.Serial} }

// Part describes the operations that belong to one of the callers of a Call with a RequestID. The operations of a Part
// are committed together.
type Part struct {
	End   int    // the part's operations end before Call.Ops[End], and begin where the previous part ends
	Err   error  // with the answer: ErrFull, ErrLater or ErrSchedule if the operations were not committed
	Value string // with the answer: the result of the only operation or, for several, the list of frame.AppendValues
}

var (
	// ErrLater means that the frame has no room for the values of so many Removes. No operation of the part is
	// committed, and the part can be retried with another RequestID.
	ErrLater = errors.New("the values are too many for one frame")
	// ErrForgotten is for a request whose serial number is below its caller's floor. Nobody waits for the answer.
	ErrForgotten = errors.New("the request was given up by its caller")

	// ErrPassed means that the request is not in the log and never will be, because a later one of its caller is.
	// ErrOld means that the request may have been committed so long ago that its caller was forgotten. After ErrPassed
	// the operations may be requested again under a higher number, and after ErrOld under one from Partition.Time on.
	ErrPassed = errors.New("a later request of its caller is in the log")
	ErrOld    = errors.New("nothing is known of the request's caller")

	// errOtherRequest is for a RequestID that was used before for a request with another number of operations.
	errOtherRequest = fmt.Errorf("%w: the request's id was used for another request", ErrArgument)
)

// results maps each result in the log to the error of a part.
var results = [...]error{frame.Done: nil, frame.Full: ErrFull, frame.Later: ErrLater, frame.Refused: ErrSchedule}

// result is the inverse of results: it returns the result in the log for the error of a part.
func result(err error) frame.Result {
	for r := range results {
		if results[r] == err {
			return frame.Result(r)
		}
	}
	panic("partition: no result is " + err.Error())
}

// parts returns the parts of c, or one part with all of its operations.
func (c *Call) parts() []Part {
	if len(c.Parts) > 0 {
		return c.Parts
	}
	c.one[0].End = len(c.Ops)
	return c.one[:]
}

// AppendAnswer appends the answer to c, part by part. The Origin of c is not in it.
func (c *Call) AppendAnswer(b []byte) []byte {
	from := 0
	for i := range c.parts() {
		p := &c.parts()[i]
		a := frame.Answer{Result: result(p.Err), Took: c.Took[from:p.End], Value: p.Value}
		c.dues = appendDues(c.dues[:0], c.Ops[from:p.End], a.Took, c.Time)
		a.Dues = c.dues
		b = a.Append(b)
		from = p.End
	}
	return b
}

// appendDues appends when the timers that were set or moved are due.
func appendDues(b []byte, ops []Op, took []bool, answered int64) []byte {
	for i := range ops {
		if took[i] && ops[i].Kind.Renews() {
			b = frame.AppendDue(b, ops[i].Due, answered)
		}
	}
	return b
}

// takeDues is the inverse of appendDues. It sets when the operations are due.
func takeDues(b []byte, ops []Op, took []bool, answered int64) bool {
	in := frame.Reader{B: b}
	for i := range ops {
		if took[i] && ops[i].Kind.Renews() {
			ops[i].Due = answered + in.Varint()
		}
	}
	return in.Ended()
}

// TakeAnswer decodes the answer at the beginning of b, which AppendAnswer has encoded, and stores it in c with its
// Origin. It returns the bytes that follow, and the error of the call with this answer. If the answer belongs to
// another request, rest is empty.
func (c *Call) TakeAnswer(b []byte, o Origin) (rest []byte, err error) {
	c.Origin = o
	c.Took = slices.Grow(c.Took[:0], len(c.Ops))[:len(c.Ops)]
	from := 0
	for i := range c.parts() {
		p := &c.parts()[i]
		a := frame.Answer{Took: c.Took[from:p.End]}
		rest, ok := a.Cut(b)
		if !ok || !takeDues(a.Dues, c.Ops[from:p.End], a.Took, o.Time) {
			return nil, errOtherRequest
		}
		p.Err, p.Value = results[a.Result], a.Value
		b, from = rest, p.End
	}
	return b, c.whole()
}

// whole copies the result of c's only part into c, if c has no Parts.
func (c *Call) whole() error {
	if len(c.Parts) > 0 {
		return nil
	}
	c.Values = c.Values[:0]
	switch p := &c.one[0]; {
	case len(c.Ops) != 1:
		c.Values = frame.CutValues(c.Values, p.Value)
	case c.one[0].Err == nil && c.Ops[0].returns(c.Took[0]):
		c.Values = append(c.Values, p.Value)
	}
	return c.one[0].Err
}

// answerSize returns an upper bound for the bytes of c's answer in a frame, apart from values.
func (c *Call) answerSize() int {
	return opBytes + 8*len(c.parts()) + len(c.Ops)/8 + binary.MaxVarintLen64*len(c.Ops)
}
