package remote

// This file has the encoding of an operation in a message.

import (
	"encoding/binary"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// The flags in the byte with an operation's kind.
const (
	ownBit     = 1 << 7 // a handler requests the operation on its own key; the name of the attempt follows
	optionsBit = 1 << 6 // a byte with options follows
)

// The bits of the options.
const (
	ifOption       = 1<<2 - 1 // the condition
	wholeOption    = 1 << 2
	scheduleOption = 1 << 3 // a schedule follows
	traceOption    = 1 << 4 // a trace context follows
	debounceOption = 1 << 5 // a Set is debounced: two durations follow
)

// options returns the byte with the options of an operation, or 0 if it has none.
func options(a *core.Op) byte {
	o := byte(a.If)
	if a.Whole {
		o |= wholeOption
	}
	if len(a.Schedule) > 0 {
		o |= scheduleOption
	}
	if len(a.Trace) > 0 {
		o |= traceOption
	}
	if a.Longest > 0 {
		o |= debounceOption
	}
	return o
}

// allowed returns the options that an operation of a kind can have.
func allowed(k frame.Kind) byte {
	switch k {
	case frame.Set:
		return ifOption | wholeOption | traceOption | debounceOption
	case frame.SetAt:
		return ifOption | wholeOption | scheduleOption | traceOption
	case frame.Move, frame.MoveAt, frame.Remove, frame.Revive:
		return wholeOption
	}
	return 0
}

// appendHead appends the kind of an operation with its flags, and the fields that these announce.
func appendHead(b []byte, a *core.Op) []byte {
	at := len(b)
	if b = append(b, byte(a.Kind)); a.By != 0 {
		b[at] |= ownBit
		b = binary.LittleEndian.AppendUint64(b, a.By)
	}
	if o := options(a); o != 0 {
		b[at] |= optionsBit
		b = append(b, o)
	}
	if len(a.Schedule) > 0 {
		b = frame.AppendBytes(b, a.Schedule)
	}
	if len(a.Trace) > 0 {
		b = frame.AppendBytes(b, a.Trace)
	}
	if a.Longest > 0 {
		b = binary.AppendVarint(binary.AppendVarint(b, int64(a.Quiet)), int64(a.Longest))
	}
	return b
}

// head reads what appendHead has appended.
func (c *cutter) head() (a core.Op) {
	k := c.Byte()
	a.Kind = frame.Kind(k &^ (ownBit | optionsBit))
	if k&ownBit != 0 {
		a.By = c.Fixed()
	}
	if k&optionsBit == 0 {
		return a
	}
	o := c.Byte()
	if o == 0 || o&^allowed(a.Kind) != 0 {
		c.Fail()
	}
	a.If, a.Whole = core.Condition(o&ifOption), o&wholeOption != 0
	if o&scheduleOption != 0 {
		a.Schedule = c.some(core.MaxSchedule)
	}
	if o&traceOption != 0 {
		a.Trace = c.some(core.MaxTrace)
	}
	if o&debounceOption != 0 {
		if a.Quiet, a.Longest = time.Duration(c.Varint()), time.Duration(c.Varint()); a.Quiet < 0 || a.Longest <= 0 {
			c.Fail()
		}
	}
	return a
}

// appendEnding appends how an attempt ends.
func appendEnding(b []byte, e *core.Ending) []byte {
	b = binary.LittleEndian.AppendUint64(b, e.Name)
	b = binary.AppendUvarint(b, uint64(e.Attempt))
	b = append(b, byte(e.How))
	if e.How == core.Retry || e.How == core.Postpone {
		b = binary.AppendVarint(b, int64(e.In))
	}
	if e.How != core.Done {
		b = frame.AppendBytes(b, []byte(e.Text))
	}
	return b
}

// ending reads what appendEnding has appended.
func (c *cutter) ending() *core.Ending {
	e := &core.Ending{Name: c.Fixed()}
	n := c.Uvarint()
	e.Attempt, e.How = uint32(n), core.How(c.Byte())
	if e.How == core.Retry || e.How == core.Postpone {
		e.In = time.Duration(c.Varint())
	}
	if e.How != core.Done {
		e.Text = string(c.Bytes())
	}
	if e.Name == 0 || n == 0 || n > state.MaxCount || e.How >= core.Hows || len(e.Text) > core.MaxError {
		c.Fail()
	}
	return e
}

// some reads a byte string of at least one byte and at most the number of bytes in most.
func (c *cutter) some(most int) []byte {
	b := c.Bytes()
	if len(b) == 0 || len(b) > most {
		c.Fail()
	}
	return b
}
