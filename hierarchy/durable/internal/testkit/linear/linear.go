// Package linear checks histories of calls: whether they were committed, for each key, in an order that agrees with the
// order of their times.
package linear

import (
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// Input is an operation that a caller requests, and Output its answer.
type (
	Input struct {
		Kind       frame.Kind // 0 is Get
		Absent     bool       // a Set that is committed if the key has no timer: OK reports whether it was
		Swap       bool       // a Set whose Output is the value that it replaced
		Key, Value string
	}
	Output struct {
		Unknown bool // there was no answer, or one that leaves open what was done
		OK      bool
		Value   string
	}
)

// Call is one call. Begun and Ended are times of one clock.
type Call struct {
	Caller       int
	Input        Input
	Begun, Ended int64
	Output       Output
}

// Result is the result of Check.
type Result struct {
	OK, Illegal bool // if neither is set, there was not enough time
	info        porcupine.LinearizationInfo
}

// Check searches for an order of all calls. A call without an answer may be committed at any time, or not at all.
func Check(calls []Call, limit time.Duration) Result {
	found, info := porcupine.CheckOperationsVerbose(model, operations(calls), limit)
	return Result{OK: found == porcupine.Ok, Illegal: found == porcupine.Illegal, info: info}
}

// Draw writes the result to a file, as a page for a browser.
func (r Result) Draw(path string) error { return porcupine.VisualizePath(model, r.info, path) }
