package api

import (
	"bytes"
	"io"
)

// LineWriter converts lines. NewLineWriter makes one.
type LineWriter struct {
	out  io.Writer
	turn func(line []byte) ([]byte, error)
	rest []byte // the beginning of a line
}

// NewLineWriter returns a writer that calls turn for each line and writes the result to out. The argument of turn is a
// line without the newline. The result is a line with the newline, or empty.
func NewLineWriter(out io.Writer, turn func(line []byte) ([]byte, error)) *LineWriter {
	return &LineWriter{out: out, turn: turn}
}

// Write implements io.Writer.
func (w *LineWriter) Write(b []byte) (int, error) {
	n := len(b)
	for {
		head, tail, whole := bytes.Cut(b, []byte("\n"))
		w.rest = append(w.rest, head...)
		if !whole {
			return n, nil
		}
		line, err := w.turn(w.rest)
		if err == nil {
			_, err = w.out.Write(line)
		}
		if err != nil {
			return 0, err
		}
		w.rest, b = w.rest[:0], tail
	}
}
