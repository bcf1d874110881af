package frame

import "encoding/binary"

// Result is the outcome of a part of a request.
type Result uint8

const (
	Done    Result = iota // the operations whose bits are set were committed
	Full                  // no operation was committed, as there was no room under MaxPending
	Later                 // no operation was committed, as the frame had no room for the value. The request can be repeated
	Refused               // no operation was committed, as the owner could not parse a schedule. From version 2 on
)

const (
	answerResult = 1<<2 - 1 // the bits of the result
	answerValue  = 1 << 2   // a value follows
	answerCount  = 3        // where the number of operations begins
)

// AppendAnswer appends the answer to one part of a request: its result, whether each of its operations was committed,
// and the value that its only operation returned, or for several operations the list that AppendValues has made.
func AppendAnswer(b []byte, r Result, took []bool, value string) []byte {
	head := uint64(len(took))<<answerCount | uint64(r)
	if value != "" {
		head |= answerValue
	}
	b = binary.AppendUvarint(b, head)
	if r == Done {
		for i, t := range took {
			if i%8 == 0 {
				b = append(b, 0)
			}
			if t {
				b[len(b)-1] |= 1 << (i % 8)
			}
		}
	}
	if value != "" {
		b = AppendBytes(b, value)
	}
	return b
}

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

// CutAnswer decodes an answer that AppendAnswer has written for len(took) operations, and returns the bytes that
// follow. Value shares the memory of b. ok is false if b does not begin with such an answer.
func CutAnswer(b []byte, took []bool) (r Result, value, rest []byte, ok bool) {
	in := Reader{B: b}
	head := in.Uvarint()
	if in.Failed || head>>answerCount != uint64(len(took)) {
		return 0, nil, nil, false
	}
	r = Result(head & answerResult)
	clear(took)
	if r == Done {
		bits := (len(took) + 7) / 8
		if len(in.B) < bits {
			return 0, nil, nil, false
		}
		for i := range took {
			took[i] = in.B[i/8]>>(i%8)&1 != 0
		}
		in.B = in.B[bits:]
	}
	if head&answerValue != 0 {
		value = in.Bytes()
	}
	return r, value, in.B, !in.Failed
}
