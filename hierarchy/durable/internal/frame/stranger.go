package frame

import "bytes"

// Begins reports whether b begins like a frame. A message of a log that does not begin like a frame was not written by
// an owner.
func Begins(b []byte) bool { return bytes.HasPrefix(b, magic[:]) }

// Renumber returns the frame b with another number and the same operations. If b is the first frame of its owner or of
// the log, so is the result.
func Renumber(b []byte, number uint64) ([]byte, error) {
	f, err := Parse(b)
	if err != nil {
		return nil, err
	}
	h := f.Header
	h.Number = number
	if h.Epoch == f.Number {
		h.Epoch = number
	}
	if h.Begin == f.Number {
		h.Begin = number
	}
	var w Builder
	w.Start(h)
	for op, err := range f.Ops() {
		if err != nil {
			return nil, err
		}
		w.Add(op)
	}
	b, _ = w.Finish()
	return b, nil
}
