package frame

import "encoding/binary"

// More has the fields that most timers don't need. A field without a value takes no bytes.
type More struct {
	Schedule []byte // Set, SetAt, Keep: the timer's schedule, as text
	Trace    []byte // Set, SetAt, Keep: the trace context of the call that has set the timer
	Missed   uint32 // Keep of a run, and Start if Moved: the number of other runs that this run makes up for
	Started  bool   // Keep of a run: whether there was a Start of the run
	Error    []byte // Fail, Die, a Next after a run that has Died, and Keep: why the last attempt that failed did so
	Failed   int64  // Keep of a timer with an Error, or of a dead one: the time of the frame with that failure
	// Debounced is for a Set, or a Keep, of a timer that each further call moves until it is due. Since is then the
	// time of the first of these calls, in the owner's time.
	Debounced bool
	Since     int64
	Paused    bool // SetAt, and Keep, of a timer with a Schedule: no attempt begins until a Resume
}

// The flags of the fields that follow in Set, SetAt and Keep, in this order.
const (
	hasSchedule = 1 << iota
	hasTrace
	hasMissed
	hasStarted // a flag without a field
	hasFailed
	hasSince
	hasPaused // a flag without a field
	ofSet     = hasSchedule | hasTrace | hasSince | hasPaused
	ofKeep    = ofSet | hasMissed | hasStarted | hasFailed
)

// mayHave returns the flags that an operation may have.
func mayHave(op *Op) byte {
	if op.Kind.isWhole() {
		return ofKeep
	}
	return ofSet
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
	if op.State == Dead || len(op.Error) > 0 {
		bits |= hasFailed
	}
	if op.Debounced {
		bits |= hasSince
	}
	if op.Paused {
		bits |= hasPaused
	}
	return bits & mayHave(op)
}

// hasMore reports whether op has fields of More, so that moreBit is set.
func (op *Op) hasMore() bool {
	switch op.Kind {
	case Set, SetAt, Keep, Import:
		return op.bits() != 0
	case Fail, Die, Next:
		return len(op.Error) > 0
	case Begin:
		return op.Name != 0
	case Start, Resume:
		return op.Moved
	case Request:
		return op.Kept
	}
	return false
}

// more codes the fields of More, which follow the other fields.
func (c *coder) more(op *Op) {
	switch op.Kind {
	case Fail, Die, Next:
		if c.some(&op.Error); op.Kind == Next && op.How != Died {
			c.Fail()
		}
	case Begin:
		c.time(&op.Next)
		c.name(op)
	case Start:
		op.Moved = true
		c.time(&op.Due)
		c.uint32(&op.Missed)
	case Resume:
		op.Moved = true
		c.time(&op.Due)
	case Request:
		op.Kept = true
		c.fixed(&op.ID.Owner)
		c.number(&op.ID.Number)
	case Set, SetAt, Keep, Import:
		c.timer(op)
	default:
		c.Fail()
	}
}

// timer codes what a timer may have, after flags that tell what it has.
func (c *coder) timer(op *Op) {
	bits := op.bits()
	c.byte(&bits)
	if bits == 0 || bits&^mayHave(op) != 0 || op.State == Dead && bits&hasFailed == 0 {
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
	if bits&hasFailed != 0 {
		c.time(&op.Failed)
		if c.bytes(&op.Error); len(op.Error) == 0 {
			op.Error = nil
		}
		if op.Error == nil && op.State != Dead {
			c.Fail()
		}
	}
	if op.Debounced = bits&hasSince != 0; op.Debounced {
		c.time(&op.Since)
	}
	if op.Paused = bits&hasPaused != 0; op.Paused && (bits&hasSchedule == 0 || op.State == Dead) {
		c.Fail()
	}
}

// MoreSize returns an upper bound for the bytes of a timer's schedule, trace context, error and Since, with their flags
// and lengths.
func MoreSize[T string | []byte](schedule, trace, err T, debounced bool) int {
	n := len(schedule) + len(trace) + len(err)
	if n > 0 || debounced {
		n += 4 * binary.MaxVarintLen32
	}
	return n
}
