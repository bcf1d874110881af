// Package linear checks histories of calls: whether they took hold in one order for each key, that
// agrees with the order of their times.
package linear

import (
	"fmt"
	"math"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// Input is what a caller asks for, and Output what it was answered with.
type (
	Input struct {
		Kind       frame.Kind // 0 is Get
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

// Result says what Check has found.
type Result struct {
	OK, Illegal bool // neither: there was no time to tell
	info        porcupine.LinearizationInfo
}

// register is a key's timer: its value, or nothing.
type register struct {
	there bool
	value string
}

// model is what each key is, by what was asked and answered.
var model = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		keys := map[string][]porcupine.Operation{}
		for _, o := range history {
			k := o.Input.(Input).Key
			keys[k] = append(keys[k], o)
		}
		var parts [][]porcupine.Operation
		for _, part := range keys {
			parts = append(parts, part)
		}
		return parts
	},
	Init: func() any { return register{} },
	Step: func(state, input, output any) (bool, any) {
		s, in, out := state.(register), input.(Input), output.(Output)
		switch in.Kind {
		case frame.Set, frame.SetAt:
			return out.Unknown || out.OK, register{true, in.Value}
		case frame.Move:
			return out.Unknown || out.OK == s.there, s
		case frame.Remove:
			return out.Unknown || out.OK == s.there && out.Value == s.value, register{}
		}
		return out.OK == s.there && out.Value == s.value, s
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v: %+v", input, output) },
}

// Check looks for an order of all calls. A call without an answer may take hold at any time, or not.
func Check(calls []Call, limit time.Duration) Result {
	var all []porcupine.Operation
	for _, c := range calls {
		if c.Output.Unknown {
			if c.Input.Kind == 0 {
				continue // it says nothing
			}
			c.Ended = math.MaxInt64
		}
		all = append(all, porcupine.Operation{ClientId: c.Caller, Input: c.Input, Call: c.Begun, Output: c.Output, Return: c.Ended})
	}
	found, info := porcupine.CheckOperationsVerbose(model, all, limit)
	return Result{OK: found == porcupine.Ok, Illegal: found == porcupine.Illegal, info: info}
}

// Draw writes what was found to a file, as a page for a browser.
func (r Result) Draw(path string) error { return porcupine.VisualizePath(model, r.info, path) }
