package frame

import "encoding/binary"

// More is what most timers don't have. It takes no bytes then, and is not in frames of version 1.
type More struct {
	Schedule []byte // Set, SetAt, Keep: when the timer runs again, as text
	Trace    []byte // Set, SetAt, Keep: the trace context of the call that has set it
	Missed   uint32 // Keep of a run, and Start if Moved: how many other runs this one stands for
	Started  bool   // Keep of a run: there was a Start
	Error    []byte // Die, and a Keep of a dead timer: why the last attempt failed
	Died     int64  // Keep of a dead timer: the time of the frame with its Die
}

// moreBit, in the byte of a kind, says that fields follow after the others that most operations don't have.
const moreBit = 1 << 7

// The bits of what follows in Set, SetAt and Keep, in this order.
const (
	hasSchedule = 1 << iota
	hasTrace
	hasMissed
	hasStarted // nothing follows
	hasDied
	ofSet  = hasSchedule | hasTrace
	ofKeep = ofSet | hasMissed | hasStarted | hasDied
)

// mayHave returns the bits that an operation may have.
func mayHave(op *Op) byte {
	switch {
	case !op.Kind.isWhole():
		return ofSet
	case op.State != Dead:
		return ofKeep &^ hasDied
	}
	return ofKeep
}

// bits returns what op has beside the fields of most operations.
func (op *Op) bits() (bits byte) {
	if len(op.Schedule) > 0 {
		bits |= hasSchedule
	}
	if len(op.Trace) > 0 {
		bits |= hasTrace
	}
	if op.Missed > 0 {
		bits |= hasMissed
	}
	if op.Started {
		bits |= hasStarted
	}
	if op.Kind.isWhole() && op.State == Dead {
		bits |= hasDied
	}
	return bits & mayHave(op)
}

// hasMore reports whether moreBit is set for op.
func (op *Op) hasMore() bool {
	switch op.Kind {
	case Set, SetAt, Keep, Import:
		return op.bits() != 0
	case Die:
		return len(op.Error) > 0
	case Start:
		return op.Moved
	}
	return false
}

// more appends what follows the other fields.
func (w *Builder) more(op *Op) {
	switch op.Kind {
	case Die:
		w.bytes(op.Error)
		return
	case Start:
		w.time(op.Due)
		w.b = binary.AppendUvarint(w.b, uint64(op.Missed))
		return
	}
	bits := op.bits()
	w.b = append(w.b, bits)
	if bits&hasSchedule != 0 {
		w.bytes(op.Schedule)
	}
	if bits&hasTrace != 0 {
		w.bytes(op.Trace)
	}
	if bits&hasMissed != 0 {
		w.b = binary.AppendUvarint(w.b, uint64(op.Missed))
	}
	if bits&hasDied != 0 {
		w.time(op.Died)
		w.bytes(op.Error)
	}
}

// more reads what Builder.more has appended. It fails if op can't have it.
func (r *reader) more(op *Op) {
	switch op.Kind {
	case Die:
		op.Error = r.some()
		return
	case Start:
		op.Moved, op.Due, op.Missed = true, r.time(), r.attempt()
		return
	case Set, SetAt, Keep, Import:
	default:
		r.Fail()
		return
	}
	bits := r.Byte()
	if bits == 0 || bits&^mayHave(op) != 0 {
		r.Fail()
	}
	if bits&hasSchedule != 0 {
		op.Schedule = r.some()
	}
	if bits&hasTrace != 0 {
		op.Trace = r.some()
	}
	if bits&hasMissed != 0 {
		if op.Missed = r.attempt(); op.Missed == 0 {
			r.Fail()
		}
	}
	op.Started = bits&hasStarted != 0
	if bits&hasDied != 0 {
		op.Died = r.time()
		if b := r.Bytes(); len(b) > 0 {
			op.Error = b
		}
	}
}

// some reads bytes of which there is one at least.
func (r *reader) some() []byte {
	b := r.Bytes()
	if len(b) == 0 {
		r.Fail()
	}
	return b
}

// MoreSize is more than a timer's schedule, trace context and error take, and what goes with them.
func MoreSize[T string | []byte](schedule, trace, err T) int {
	n := len(schedule) + len(trace) + len(err)
	if n > 0 {
		n += 4 * binary.MaxVarintLen32
	}
	return n
}
