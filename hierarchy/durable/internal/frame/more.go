package frame

import "encoding/binary"

// More has the fields that most timers don't need. A field without a value takes no bytes. Frames of version 1 don't
// have these fields.
type More struct {
	Schedule []byte // Set, SetAt, Keep: the timer's schedule, as text
	Trace    []byte // Set, SetAt, Keep: the trace context of the call that has set the timer
	Missed   uint32 // Keep of a run, and Start if Moved: the number of other runs that this run makes up for
	Started  bool   // Keep of a run: whether there was a Start of the run
	Error    []byte // Die, and a Keep of a dead timer: why the last attempt failed
	Died     int64  // Keep of a dead timer: the time of the frame with its Die
}

// The flags of the fields that follow in Set, SetAt and Keep, in this order.
const (
	hasSchedule = 1 << iota
	hasTrace
	hasMissed
	hasStarted // a flag without a field
	hasDied
	ofSet  = hasSchedule | hasTrace
	ofKeep = ofSet | hasMissed | hasStarted | hasDied
)

// mayHave returns the flags that an operation may have.
func mayHave(op *Op) byte {
	switch {
	case !op.Kind.isWhole():
		return ofSet
	case op.State != Dead:
		return ofKeep &^ hasDied
	}
	return ofKeep
}

// bits returns the flags of the fields in More that op has.
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

// hasMore reports whether op has fields of More, so that moreBit is set.
func (op *Op) hasMore() bool {
	switch op.Kind {
	case Set, SetAt, Keep, Import:
		return op.bits() != 0
	case Die:
		return len(op.Error) > 0
	case Start:
		return op.Moved
	case Request:
		return op.Kept
	}
	return false
}

// more codes the fields of More, which follow the other fields.
func (c *coder) more(op *Op) {
	switch op.Kind {
	case Die:
		c.some(&op.Error)
		return
	case Start:
		op.Moved = true
		c.time(&op.Due)
		c.uint32(&op.Missed)
		return
	case Request:
		op.Kept = true
		c.fixed(&op.ID.Owner)
		c.number(&op.ID.Number)
		return
	case Set, SetAt, Keep, Import:
	default:
		c.Fail()
		return
	}
	bits := op.bits()
	c.byte(&bits)
	if bits == 0 || bits&^mayHave(op) != 0 {
		c.Fail()
	}
	if bits&hasSchedule != 0 {
		c.some(&op.Schedule)
	}
	if bits&hasTrace != 0 {
		c.some(&op.Trace)
	}
	if bits&hasMissed != 0 {
		if c.uint32(&op.Missed); op.Missed == 0 {
			c.Fail()
		}
	}
	op.Started = bits&hasStarted != 0
	if bits&hasDied != 0 {
		c.time(&op.Died)
		if c.bytes(&op.Error); len(op.Error) == 0 {
			op.Error = nil
		}
	}
}

// MoreSize returns an upper bound for the bytes of a timer's schedule, trace context and error, with their flags and
// lengths.
func MoreSize[T string | []byte](schedule, trace, err T) int {
	n := len(schedule) + len(trace) + len(err)
	if n > 0 {
		n += 4 * binary.MaxVarintLen32
	}
	return n
}
