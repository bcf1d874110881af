package partition

import (
	"errors"
	"fmt"
	"slices"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// RequestID names a Call, so that a repetition of it takes hold once. One without Caller names
// none.
type RequestID struct {
	Caller uint64 // a random number
	Serial uint64 // callers count their requests
	Floor  uint64 // all requests of lower serial numbers were answered, or given up. At most Serial
}

func (id RequestID) named() bool { return id.Caller != 0 }

func (id RequestID) key() state.Request { return state.Request{Caller: id.Caller, Serial: id.Serial} }

// Part is the operations of one of several callers in a Call with a Request. They take hold
// together.
type Part struct {
	End   int    // they are those before Call.Asks[End], from where the part before ends
	Err   error  // after Wait: ErrFull or ErrLater, if they did not take hold
	Value string // after Wait: the value that its only operation, a Remove, took out, or of several, the list of frame.AppendValues
}

var (
	// ErrLater: a frame has no room for the values of so many Removes. Nothing of the part has
	// taken hold, and it can be asked for again, under another RequestID.
	ErrLater = errors.New("the values are too many for one frame")
	// ErrForgotten is for a request below its caller's floor. Nobody waits for its answer.
	ErrForgotten = errors.New("the request was given up by its caller")

	// ErrPassed is for a request that has not taken hold, and will not, since a later one of its caller has.
	// ErrOld is for one that may have taken hold so long ago that nothing is known of it any more. Both may
	// be asked for again as requests that are counted from Partition.Time.
	ErrPassed = errors.New("a later request of its caller has taken hold")
	ErrOld    = errors.New("nothing is known of the request's caller")

	// errOtherRequest is for a RequestID that had another number of operations.
	errOtherRequest = fmt.Errorf("%w: the request's id was used for another request", ErrArgument)
)

// results are the errors of a part, by its result in the log.
var results = [...]error{frame.Done: nil, frame.Full: ErrFull, frame.Later: ErrLater}

// result is the result of a part with that error.
func result(err error) frame.Result {
	for r := range results {
		if results[r] == err {
			return frame.Result(r)
		}
	}
	panic("partition: no result is " + err.Error())
}

// parts are c's parts, or c as one.
func (c *Call) parts() []Part {
	if len(c.Parts) > 0 {
		return c.Parts
	}
	c.one[0].End = len(c.Asks)
	return c.one[:]
}

// AppendAnswer appends the answer that c has got, part by part.
func (c *Call) AppendAnswer(b []byte) []byte {
	from := 0
	for i := range c.parts() {
		p := &c.parts()[i]
		b = frame.AppendAnswer(b, result(p.Err), c.Took[from:p.End], p.Value)
		from = p.End
	}
	return b
}

// TakeAnswer gives c the answer that AppendAnswer has put at the beginning of b, and returns what
// follows, and what Wait returns with this answer. If it is to another request, nothing follows.
func (c *Call) TakeAnswer(b []byte) (rest []byte, err error) {
	c.Took = slices.Grow(c.Took[:0], len(c.Asks))[:len(c.Asks)]
	from := 0
	for i := range c.parts() {
		p := &c.parts()[i]
		r, value, rest, ok := frame.CutAnswer(b, c.Took[from:p.End])
		if !ok {
			return nil, errOtherRequest
		}
		p.Err, p.Value = results[r], string(value)
		b, from = rest, p.End
	}
	return b, c.whole()
}

// whole copies the result of c's only part into c.
func (c *Call) whole() error {
	if len(c.Parts) > 0 {
		return nil
	}
	c.Values = c.Values[:0]
	switch p := &c.one[0]; {
	case len(c.Asks) != 1:
		c.Values = frame.CutValues(c.Values, p.Value)
	case c.Took[0] && c.Asks[0].Kind == frame.Remove:
		c.Values = append(c.Values, p.Value)
	}
	return c.one[0].Err
}

// answerSize is more than c's answer takes in a frame, beside values.
func (c *Call) answerSize() int { return opBytes + 4*len(c.parts()) + len(c.Asks)/8 }

// addNamed adds what c asks for, which has a Request, unless a copy of it was answered, or is in
// the frame. mu is held.
func (p *Partition) addNamed(w *written, c *Call) {
	d, id := &p.draft, c.Request.key()
	answer, ok := d.answers[id]
	if !ok {
		answer, ok = p.state.Answer(id)
	}
	switch {
	case id.Serial < max(d.floors[id.Caller], p.state.Floor(id.Caller)):
		c.answer(ErrForgotten)
		return
	case ok:
		var rest []byte
		if rest, c.result = c.TakeAnswer([]byte(answer)); len(rest) > 0 {
			c.result = errOtherRequest
		}
	default:
		if err := p.standing(id); err != nil {
			c.answer(err)
			return
		}
		d.askNamed(c, p.cfg.MaxPending, min(frameBytes, p.cfg.Log.MaxMessage()))
	}
	w.calls = append(w.calls, c)
}

// standing is an error if a request without an answer must not take hold.
func (p *Partition) standing(id state.Request) error {
	st := p.state.Standing(id)
	if latest, ok := p.draft.latest[id.Caller]; ok {
		st = state.Fresh
		if id.Serial < latest && id.Serial >= state.Counted {
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

// Time is that of the last frame. A process that asks by Requests for the first time counts them from there.
func (p *Partition) Time() (int64, error) {
	p.mu.Lock()
	t := p.head.Time
	p.mu.Unlock()
	return t, p.held()
}

// askNamed adds what each part of c asks for, as far as it takes hold, and the answer. The frame
// ends at limit.
func (d *draft) askNamed(c *Call, pending, limit int) {
	from, room, ok := 0, limit-d.Size()-c.size, true
	for i := range c.parts() {
		p := &c.parts()[i]
		asks, took := c.Asks[from:p.End], c.Took[from:p.End]
		clear(took)
		p.Err, p.Value = nil, ""
		if size := d.valueSize(asks); size > max(0, room) && size > 0 && (i > 0 || len(asks) == 1) {
			p.Err = ErrLater
		} else if d.values, ok = d.ask(asks, took, pending, d.values[:0]); !ok {
			p.Err = ErrFull
		} else {
			p.Value = answerValue(asks, d.values, min(room, maxValues))
			clear(d.values) // they may be large
			room -= len(p.Value)
		}
		from = p.End
	}
	c.result = c.whole()
	d.remember(c)
}

// remember adds the answer of c to the frame.
func (d *draft) remember(c *Call) {
	if d.answers == nil {
		d.answers, d.floors = make(map[state.Request]string), make(map[uint64]uint64)
		d.latest = make(map[uint64]uint64)
	}
	id := c.Request
	d.room = c.AppendAnswer(d.room[:0])
	d.answers[id.key()] = string(d.room)
	d.floors[id.Caller] = max(d.floors[id.Caller], id.Floor)
	d.latest[id.Caller] = max(d.latest[id.Caller], id.Serial)
	d.Add(&frame.Op{Kind: frame.Request, Caller: id.Caller, Serial: id.Serial, Floor: id.Floor,
		When: d.Header().Time, Answers: d.room})
}

// answerRoom is what the answer of c needs in the frame, beside c.size: operations and bytes. Of
// many values some have to wait.
func (d *draft) answerRoom(c *Call) (n, size int) {
	if !c.Request.named() {
		return 0, 0
	}
	from := 0
	for _, p := range c.parts() {
		size += d.valueSize(c.Asks[from:p.End])
		from = p.End
	}
	return 1, min(size, frameBytes/4)
}

// Remembers tells whether a caller has asked by Requests, and was not forgotten.
func (p *Partition) Remembers(caller uint64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state.Remembers(caller)
}
