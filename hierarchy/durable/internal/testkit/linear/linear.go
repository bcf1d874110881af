// Package linear checks histories of calls: whether they were committed in one order for each key, that
// agrees with the order of their times.
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
		Absent     bool       // a Set that is committed if the key has no timer: OK says whether it was
		Swap       bool       // a Set whose Output is what it replaced
		Key, Value string
	}
	Output struct {
		Unknown bool // no answer has come, or one that says that nothing is known
		OK      bool
		Value   string
	}
)

// Call is one call. Begun and Ended are of one clock.
type Call struct {
	Caller       int
	Input        Input
	Begun, Ended int64
	Output       Output
}

// Result is what Check has found.
type Result struct {
	OK, Illegal bool // neither: there was no time to tell
	info        porcupine.LinearizationInfo
}

// Check looks for an order of all calls. A call without an answer may be committed at any time, or not.
func Check(calls []Call, limit time.Duration) Result {
	found, info := porcupine.CheckOperationsVerbose(model, operations(calls), limit)
	return Result{OK: found == porcupine.Ok, Illegal: found == porcupine.Illegal, info: info}
}

// Draw writes what was found to a file, as a page for a browser.
func (r Result) Draw(path string) error { return porcupine.VisualizePath(model, r.info, path) }
