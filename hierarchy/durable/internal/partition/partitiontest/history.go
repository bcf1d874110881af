// Package partitiontest checks histories of calls: whether they were committed in one order for each key.
package partitiontest

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/linear"
)

// Input is a caller's operation, and Output its answer.
type (
	Input  = linear.Input
	Output = linear.Output
)

// History is the calls that were made, and their answers. The zero History is empty.
type History struct {
	clock atomic.Int64 // counts beginnings and ends
	mu    sync.Mutex
	all   []linear.Call
}

// Call calls do, which makes a call, and records it. If do does not know whether the call was committed, the Output is
// Unknown. A call that was certainly not committed is not recorded.
func (h *History) Call(caller int, in Input, do func() (out Output, noted bool)) {
	begun := h.clock.Add(1)
	out, noted := do()
	if !noted || out.Unknown && in.Kind == 0 {
		return
	}
	call := linear.Call{Caller: caller, Input: in, Begun: begun, Ended: h.clock.Add(1), Output: out}
	h.mu.Lock()
	h.all = append(h.all, call)
	h.mu.Unlock()
}

// Answered returns how many calls were answered.
func (h *History) Answered() (n, of int) {
	for i := range h.all {
		if !h.all[i].Output.Unknown {
			n++
		}
	}
	return n, len(h.all)
}

// Check fails the test unless there is an order of all calls that agrees with the order of their times.
func (h *History) Check(t testing.TB) {
	t.Helper()
	result := linear.Check(h.all, time.Minute)
	if result.Illegal {
		name := filepath.Join(os.TempDir(), fmt.Sprintf("durable-history-%d.txt", time.Now().UnixNano()))
		t.Log("written to", name, result.Write(name))
	}
	if !result.OK {
		t.Fatalf("the history of %d operations has no order (illegal: %v)", len(h.all), result.Illegal)
	}
}
