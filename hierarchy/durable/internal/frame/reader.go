package frame

import (
	"fmt"
	"iter"
	"math"
)

// Ops returns an iterator over the operations, each with its place in the frame. The Op is the same
// variable each time, and its bytes are those of the frame. After an error nothing comes.
func (f *Frame) Ops() iter.Seq2[*Op, error] {
	return func(yield func(*Op, error) bool) {
		r := reader{frame: f, Reader: Reader{B: f.body}}
		for place := range f.Count {
			r.op = Op{}
			if !r.read(place) {
				yield(nil, fmt.Errorf("%w: operation %d can't be read", errDamaged, place))
				return
			}
			if !yield(&r.op, nil) {
				return
			}
		}
		if len(r.B) > 0 {
			yield(nil, fmt.Errorf("%w: %d bytes follow the last operation", errDamaged, len(r.B)))
		}
	}
}

// reader reads the operations of a frame. After a failure it reads zeros.
type reader struct {
	Reader
	frame *Frame
	op    Op
}

// read reads one operation. It is false if there is none.
func (r *reader) read(place int) bool {
	op := &r.op
	kind := r.Byte()
	more := kind&moreBit != 0 && r.frame.Version >= 2
	if more {
		kind &^= moreBit
	}
	op.Kind = Kind(kind)
	switch op.Kind {
	case Set, SetAt:
		op.ID, op.Wall = r.frame.newID(place), op.Kind == SetAt
		op.Due, op.Key, op.Value = r.time(), r.Bytes(), r.Bytes()
	case Move:
		op.ID = r.frame.newID(place)
		op.Due, op.Key = r.time(), r.Bytes()
	case Remove:
		op.Key = r.Bytes()
	case End:
		op.ID.Number, op.Key = r.number(), r.Bytes()
	case Revive:
		op.ID.Number, op.Due, op.Key = r.number(), r.time(), r.Bytes()
	case Begin, Die:
		op.Attempt, op.ID.Number, op.Key = r.attempt(), r.number(), r.Bytes()
	case Fail:
		op.Attempt, op.ID.Number, op.Next, op.Key = r.attempt(), r.number(), r.time(), r.Bytes()
	case Keep:
		r.keep(op)
	case Takeover:
		op.Text = r.Bytes()
	case Close:
	case Request:
		r.request(op)
	default:
		r.newer(op, place)
	}
	if more {
		r.more(op)
	}
	return !r.Failed
}

// newer reads what is not in version 1.
func (r *reader) newer(op *Op, place int) {
	if r.frame.Version < 2 {
		r.Fail()
		return
	}
	switch op.Kind {
	case Import:
		r.keep(op)
		return
	case Next:
		op.ID, op.Wall = r.frame.newID(place), true
		if op.How = How(r.Byte()); op.How >= hows {
			r.Fail()
		}
		op.Ended, op.Due = r.number(), r.time()
	case Start, Expire:
		op.ID.Number = r.number()
	default:
		r.Fail()
	}
	op.Key = r.Bytes()
}

func (r *reader) keep(op *Op) {
	flags := r.Byte()
	op.State, op.Wall = State(flags&keepState), flags&keepWall != 0
	if op.State >= states || flags&^(keepState|keepWall) != 0 {
		r.Fail()
	}
	op.ID.Owner, op.ID.Number = r.Fixed(), r.number()
	op.Due, op.Attempt = r.time(), r.attempt()
	if op.Attempt > 0 {
		op.Next = r.time()
	}
	op.Key, op.Value = r.Bytes(), r.Bytes()
	if op.State == Dead {
		op.Died = r.frame.Time // unless the operation has it
	}
}

func (r *reader) request(op *Op) {
	op.Caller, op.Serial = r.Fixed(), r.Uvarint()
	above := r.Uvarint()
	if above > op.Serial {
		r.Fail()
	}
	op.Floor, op.When, op.Answers = op.Serial-above, r.time(), r.Bytes()
}

// time is relative to that of the frame. What Builder.time has wrapped around wraps back.
func (r *reader) time() int64 { return r.frame.Time + r.Varint() }

// number returns the number of an ID. In version 1, one that this log can't have given yet is a failure: there are no timers
// of other logs.
func (r *reader) number() uint64 {
	age := r.Uvarint()
	number := (r.frame.Number+1)<<placeBits - age
	if r.frame.Version < 2 && (age == 0 || age > (r.frame.Number+1)<<placeBits) {
		r.Fail()
	}
	return number
}

func (r *reader) attempt() uint32 {
	v := r.Uvarint()
	if v > math.MaxUint32 {
		r.Fail()
	}
	return uint32(v)
}
