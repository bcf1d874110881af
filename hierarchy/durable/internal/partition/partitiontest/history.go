// Package partitiontest checks histories of calls: whether they took hold in one order for each key.
package partitiontest

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
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
		case frame.Set:
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

// History is what callers have asked for, and were answered. The zero History is empty.
type History struct {
	clock atomic.Int64 // counts beginnings and ends
	mu    sync.Mutex
	all   []porcupine.Operation
}

// Ask has ask ask for something, and notes it. If ask does not know whether that took hold, the
// Output is Unknown. What certainly did not is not noted.
func (h *History) Ask(caller int, in Input, ask func() (out Output, noted bool)) {
	begun := h.clock.Add(1)
	out, noted := ask()
	op := porcupine.Operation{ClientId: caller, Input: in, Call: begun, Output: out, Return: h.clock.Add(1)}
	if out.Unknown {
		op.Return = math.MaxInt64
	}
	if !noted || out.Unknown && in.Kind == 0 {
		return
	}
	h.mu.Lock()
	h.all = append(h.all, op)
	h.mu.Unlock()
}

// Answered is how much of what was asked for was answered.
func (h *History) Answered() (n, of int) {
	for i := range h.all {
		if !h.all[i].Output.(Output).Unknown {
			n++
		}
	}
	return n, len(h.all)
}

// Check fails the test unless there is an order of all that was asked for that agrees with the order
// of its times.
func (h *History) Check(t testing.TB) {
	t.Helper()
	result, info := porcupine.CheckOperationsVerbose(model, h.all, time.Minute)
	if result == porcupine.Illegal {
		name := filepath.Join(os.TempDir(), fmt.Sprintf("durable-history-%d.html", time.Now().UnixNano()))
		t.Log("drawn in", name, porcupine.VisualizePath(model, info, name))
	}
	if result != porcupine.Ok {
		t.Fatalf("the history of %d operations is %v", len(h.all), result)
	}
}
