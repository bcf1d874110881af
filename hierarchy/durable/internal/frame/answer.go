package frame

import "encoding/binary"

// Result is the outcome of a part of a request.
type Result uint8

const (
	Done    Result = iota // the operations whose bits are set were committed
	Full                  // no operation was committed, as there was no room under MaxPending
	Later                 // no operation was committed, as the frame had no room for the value. The request can be repeated
	Refused               // no operation was committed, as the owner could not parse a schedule.
)

const (
	answerResult = 1<<2 - 1 // the bits of the result
	answerValue  = 1 << 2   // a value follows
	answerDues   = 1 << 3   // due times follow
	answerCount  = 4        // where the number of operations begins
)

// Answer is the answer to one part of a request.
type Answer struct {
	Result Result
	// Took has, for each operation, whether it was committed.
	Took []bool
	// Dues has, for each timer that was set or moved, when it is due, from AppendDue.
	Dues []byte
	// Value is what the only operation returned, or for several operations the list that AppendValues has made.
	Value string
}

// Append appends a to b.
func (a *Answer) Append(b []byte) []byte {
	head := uint64(len(a.Took))<<answerCount | uint64(a.Result)
	if len(a.Value) > 0 {
		head |= answerValue
	}
	if len(a.Dues) > 0 {
		head |= answerDues
	}
	b = binary.AppendUvarint(b, head)
	if a.Result == Done {
		for i, t := range a.Took {
			if i%8 == 0 {
				b = append(b, 0)
			}
			if t {
				b[len(b)-1] |= 1 << (i % 8)
			}
		}
	}
	if len(a.Dues) > 0 {
		b = AppendBytes(b, a.Dues)
	}
	if len(a.Value) > 0 {
		b = AppendBytes(b, a.Value)
	}
	return b
}

// Cut reads an answer to len(a.Took) operations from the beginning of b, and returns the bytes that follow. The answer's Dues
// share the memory of b. ok is false if b does not begin with such an answer.
func (a *Answer) Cut(b []byte) (rest []byte, ok bool) {
	in := Reader{B: b}
	head := in.Uvarint()
	if in.Failed || head>>answerCount != uint64(len(a.Took)) {
		return nil, false
	}
	a.Result = Result(head & answerResult)
	clear(a.Took)
	if a.Result == Done {
		bits := (len(a.Took) + 7) / 8
		if len(in.B) < bits {
			return nil, false
		}
		for i := range a.Took {
			a.Took[i] = in.B[i/8]>>(i%8)&1 != 0
		}
		in.B = in.B[bits:]
	}
	a.Dues, a.Value = nil, ""
	if head&answerDues != 0 {
		a.Dues = in.Bytes()
	}
	if head&answerValue != 0 {
		a.Value = string(in.Bytes())
	}
	return in.B, !in.Failed
}

// AppendDue appends a due time, as its distance from the time of the answer.
func AppendDue(b []byte, due, answered int64) []byte { return binary.AppendVarint(b, due-answered) }

// AppendValues appends the values that a part's operations returned, as far as they fit into room, as the value of the
// part's answer.
func AppendValues(b []byte, values []string, room int) []byte {
	for _, v := range values {
		n := len(b)
		if b = AppendBytes(b, v); len(b) > room {
			return b[:n]
		}
	}
	return b
}

// CutValues appends to values the values that AppendValues has put into list.
func CutValues(values []string, list string) []string {
	for in := (Reader{B: []byte(list)}); len(in.B) > 0; {
		if v := in.Bytes(); !in.Failed {
			values = append(values, string(v))
		}
	}
	return values
}
