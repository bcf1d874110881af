package frame

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math"
)

// Ops is an iterator over the operations, each with its place in the frame. The Op is the same
// variable each time, and its bytes are those of the frame. After an error nothing comes.
func (f *Frame) Ops() iter.Seq2[*Op, error] {
	return func(yield func(*Op, error) bool) {
		r := reader{frame: f, b: f.body}
		for place := range f.Count {
			r.op = Op{}
			if !r.read(place) {
				yield(nil, fmt.Errorf("%w: operation %d can't be read", ErrDamaged, place))
				return
			}
			if !yield(&r.op, nil) {
				return
			}
		}
		if len(r.b) > 0 {
			yield(nil, fmt.Errorf("%w: %d bytes follow the last operation", ErrDamaged, len(r.b)))
		}
	}
}

// reader reads the operations of a frame. After a failure it reads zeros.
type reader struct {
	frame  *Frame
	b      []byte
	op     Op
	failed bool
}

// read reads one operation. It is false if there is none.
func (r *reader) read(place int) bool {
	op := &r.op
	op.Kind = Kind(r.byte())
	switch op.Kind {
	case Set, SetAt:
		op.ID, op.Wall = r.frame.NewID(place), op.Kind == SetAt
		op.Due, op.Key, op.Value = r.time(), r.bytes(), r.bytes()
	case Move:
		op.ID = r.frame.NewID(place)
		op.Due, op.Key = r.time(), r.bytes()
	case Remove:
		op.Key = r.bytes()
	case End:
		op.ID.Number, op.Key = r.number(), r.bytes()
	case Revive:
		op.ID.Number, op.Due, op.Key = r.number(), r.time(), r.bytes()
	case Begin, Die:
		op.Attempt, op.ID.Number, op.Key = r.attempt(), r.number(), r.bytes()
	case Fail:
		op.Attempt, op.ID.Number, op.Next, op.Key = r.attempt(), r.number(), r.time(), r.bytes()
	case Keep:
		r.keep(op)
	case Takeover:
		op.Text = r.bytes()
	case Close:
	case Request:
		r.request(op)
	default:
		return false
	}
	return !r.failed
}

func (r *reader) keep(op *Op) {
	flags := r.byte()
	op.State, op.Wall = State(flags&keepState), flags&keepWall != 0
	if op.State >= states || flags&^(keepState|keepWall) != 0 {
		r.failed = true
	}
	op.ID.Owner, op.ID.Number = r.fixed(), r.number()
	op.Due, op.Attempt = r.time(), r.attempt()
	if op.Attempt > 0 {
		op.Next = r.time()
	}
	op.Key, op.Value = r.bytes(), r.bytes()
}

func (r *reader) request(op *Op) {
	op.Caller, op.Serial = r.fixed(), r.uvarint()
	above := r.uvarint()
	if above > op.Serial {
		r.failed = true
	}
	op.Floor, op.When, op.Answers = op.Serial-above, r.time(), r.bytes()
}

func (r *reader) byte() byte {
	if len(r.b) == 0 {
		r.failed = true
		return 0
	}
	b := r.b[0]
	r.b = r.b[1:]
	return b
}

func (r *reader) fixed() uint64 {
	if len(r.b) < 8 {
		r.failed, r.b = true, nil
		return 0
	}
	v := binary.LittleEndian.Uint64(r.b)
	r.b = r.b[8:]
	return v
}

func (r *reader) uvarint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.failed, r.b = true, nil
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) time() int64 {
	v, n := binary.Varint(r.b)
	if n <= 0 {
		r.failed, r.b = true, nil
		return 0
	}
	r.b = r.b[n:]
	return r.frame.Time + v // what Builder.time has wrapped around wraps back
}

// number is the number of an ID. One that this log can't have given yet is a failure.
func (r *reader) number() uint64 {
	age := r.uvarint()
	number := (r.frame.Number+1)<<placeBits - age
	if age == 0 || age > (r.frame.Number+1)<<placeBits {
		r.failed = true
	}
	return number
}

func (r *reader) attempt() uint32 {
	v := r.uvarint()
	if v > math.MaxUint32 {
		r.failed = true
	}
	return uint32(v)
}

// bytes shares the memory of the frame. It is never longer than the frame.
func (r *reader) bytes() []byte {
	n := r.uvarint()
	if n > uint64(len(r.b)) {
		r.failed, r.b = true, nil
		return nil
	}
	b := r.b[:n:n]
	r.b = r.b[n:]
	return b
}
