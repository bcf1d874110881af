// Package steps has histories that are lists of numbers, for tests that drive code by one loop: the same history always
// has the same trace, and one that fails is shrunk before it is shown.
package steps

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"
)

// History determines what happens. Each number of Steps decides all of one step, so that a history from which workers
// or steps were taken is one, too.
type History struct {
	Workers int
	Steps   []uint64
}

// Draw returns the history of a seed.
func Draw(seed uint64, workers, n int) History {
	r := rand.New(rand.NewPCG(seed, 3))
	h := History{Workers: workers}
	for range n {
		h.Steps = append(h.Steps, r.Uint64())
	}
	return h
}

// Rand returns the source of chance for one step.
func Rand(step uint64) *rand.Rand { return rand.New(rand.NewPCG(step, 4)) }

// Run carries a history out. It adds what happens to a trace, and returns the first promise that did not hold.
type Run func(h History, trace *Trace) error

// Trace is what happened in a history.
type Trace []string

// Add adds a line.
func (t *Trace) Add(format string, args ...any) { *t = append(*t, fmt.Sprintf(format, args...)) }

// Do runs a history. A panic is a promise that did not hold.
func (h History) Do(run Run) (trace Trace, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	err = run(h, &trace)
	return trace, err
}

// shrinkTime is how long a history is shrunk at most.
const shrinkTime = 20 * time.Second

// Check fails with the smallest history that it finds, if the one of the seed fails.
func Check(t testing.TB, seed uint64, h History, run Run) {
	t.Helper()
	if _, err := h.Do(run); err == nil {
		return
	}
	begun := time.Now()
	small := h.Shrink(func(h History) bool {
		if time.Since(begun) > shrinkTime {
			return false
		}
		_, err := h.Do(run)
		return err != nil
	})
	trace, err := small.Do(run)
	t.Fatalf("seed %d, %d workers, %d of %d steps: %v\n%s",
		seed, small.Workers, len(small.Steps), len(h.Steps), err, strings.Join(trace, "\n"))
}

// Shrink returns a smaller history that still fails: with fewer workers, and without steps that are not needed.
func (h History) Shrink(fails func(History) bool) History {
	for h.Workers > 1 && fails(History{h.Workers - 1, h.Steps}) {
		h.Workers--
	}
	for size := len(h.Steps); size > 0; size /= 2 {
		for from := 0; from < len(h.Steps); {
			end := min(from+size, len(h.Steps))
			if less := (History{h.Workers, slices.Concat(h.Steps[:from], h.Steps[end:])}); fails(less) {
				h = less
			} else {
				from = end
			}
		}
	}
	return h
}

// Same returns an error if a history has two traces.
func (h History) Same(run Run) error {
	first, err1 := h.Do(run)
	again, err2 := h.Do(run)
	if !slices.Equal(first, again) || (err1 == nil) != (err2 == nil) {
		return errors.New("two traces: " + difference(first, again))
	}
	return nil
}

func difference(a, b Trace) string {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d is\n%s\nand\n%s", i, a[i], b[i])
		}
	}
	return fmt.Sprintf("%d and %d lines", len(a), len(b))
}
