// Package linear checks histories of calls: whether they were committed, for each key, in an order that agrees with the
// order of their times.
package linear

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

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
	OK, Illegal bool    // if neither is set, there was not enough time
	illegal     *search // of a key whose operations have no order
}

// Check searches for an order of all calls. A call without an answer may be committed at any time, or not at all. A limit
// of 0 is none.
func Check(calls []Call, limit time.Duration) Result {
	var stop atomic.Bool // there is a result, or no more time
	if limit > 0 {
		defer time.AfterFunc(limit, func() { stop.Store(true) }).Stop()
	}
	var illegal atomic.Pointer[search]
	var undecided atomic.Bool
	var keys sync.WaitGroup
	for _, ops := range operations(calls) {
		keys.Go(func() {
			s := newSearch(ops, &stop)
			switch found := s.from(0, register{}); {
			case found:
			case stop.Load():
				undecided.Store(true)
			default:
				illegal.Store(s)
				stop.Store(true)
			}
		})
	}
	keys.Wait()
	if s := illegal.Load(); s != nil {
		return Result{Illegal: true, illegal: s}
	}
	return Result{OK: !undecided.Load()}
}

// Write writes the operations on a key that has no order to a file, by the times at which they began: in the longest order
// that was found, each has its number there.
func (r Result) Write(path string) error {
	numbers := make([]string, len(r.illegal.ops))
	for n, i := range r.illegal.best {
		numbers[i] = fmt.Sprint(n + 1)
	}
	var b strings.Builder
	for i, o := range r.illegal.ops {
		fmt.Fprintf(&b, "%6s  from %d to %d, caller %d: %+v: %+v\n", numbers[i], o.Begun, o.Ended, o.Caller, o.Input, o.Output)
	}
	return os.WriteFile(path, []byte(b.String()), 0o600)
}
