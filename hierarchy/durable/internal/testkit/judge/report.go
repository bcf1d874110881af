package judge

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/linear"
)

// Report is the result of a run, or of several.
type Report struct {
	runs      int
	counts    counts
	compared  int // operations on the few keys
	undecided int // runs whose order was not found in time
	linear    linear.Result
	faults    map[string]int
	over      map[*fire]bool           // firings whose context had ended when they began, and which needed that excuse
	paused    map[Event]map[*fire]bool // firings that were decided before a stop of their worker
	ended     int                      // how many were in over, and in paused, in earlier runs
	afterStop int
	fails     []string // why timers could not be opened
	broken    map[string][]string
	keys      map[string][]string // by promise: the keys for which it was broken
}

// counts are how many operations and firings there were.
type counts struct {
	answered, unknown, refused, unanswered int
	fires, repeated                        int
}

func newReport() *Report {
	return &Report{runs: 1, faults: map[string]int{},
		over: map[*fire]bool{}, paused: map[Event]map[*fire]bool{},
		broken: map[string][]string{}, keys: map[string][]string{}}
}

func (c *counts) add(call *call) {
	switch {
	case call.answer == nil:
		c.unanswered++
	case call.result() == Took:
		c.answered++
	case call.result() == Unknown:
		c.unknown++
	default:
		c.refused++
	}
}

// IsBroken reports whether any promise was broken.
func (r *Report) IsBroken() bool { return len(r.broken) > 0 }

// WriteDisorder writes the calls that have no order, if there are any, to a file.
func (r *Report) WriteDisorder(path string) error {
	if !r.linear.Illegal {
		return nil
	}
	return r.linear.Write(path)
}

// sum adds the counts of another run.
func (c *counts) sum(o counts) {
	c.answered += o.answered
	c.unknown += o.unknown
	c.refused += o.refused
	c.unanswered += o.unanswered
	c.fires += o.fires
	c.repeated += o.repeated
}

// broke records that a promise was broken.
func (r *Report) broke(promise, format string, args ...any) {
	r.broken[promise] = append(r.broken[promise], fmt.Sprintf(format, args...))
}

// brokeOf records that a promise was broken for a key.
func (r *Report) brokeOf(promise, key, format string, args ...any) {
	r.broke(promise, format, args...)
	r.keys[promise] = append(r.keys[promise], key)
}

// Keys returns the keys for which one of these promises was broken: Lost, Revived, Early, Stranger or Twice.
func (r *Report) Keys(promise string) []string { return r.keys[promise] }

// excuses returns how many firings began after the end of their context, and how many after a stop.
func (r *Report) excuses() (over, paused int) {
	over, paused = r.ended+len(r.over), r.afterStop
	for _, of := range r.paused {
		paused += len(of)
	}
	return over, paused
}

// Add adds another run.
func (r *Report) Add(o *Report) {
	if r.faults == nil {
		*r = *newReport()
		r.runs = 0
	}
	r.runs += o.runs
	r.compared += o.compared
	r.undecided += o.undecided
	r.counts.sum(o.counts)
	over, paused := o.excuses()
	r.ended += over
	r.afterStop += paused
	r.fails = append(r.fails, o.fails...)
	for fault, n := range o.faults {
		r.faults[fault] += n
	}
	for what, all := range o.broken {
		r.broken[what] = append(r.broken[what], all...)
	}
}

// Write writes a table.
func (r *Report) Write(out io.Writer) {
	row := func(what string, format string, args ...any) {
		fmt.Fprintf(out, "  %-44s %s\n", what, fmt.Sprintf(format, args...))
	}
	for _, fault := range slices.Sorted(maps.Keys(r.faults)) {
		row(fault, "%d", r.faults[fault])
	}
	r.writeCounts(row)
	r.writeBroken(out)
}

// writeCounts writes the counts.
func (r *Report) writeCounts(row func(what, format string, args ...any)) {
	c := r.counts
	row("operations", "%d answered, %d unknown, %d refused, %d without an answer at a kill", c.answered, c.unknown, c.refused, c.unanswered)
	row("of them compared with each other", "%d", r.compared)
	if r.undecided > 0 {
		row("runs without time to compare them", "%d", r.undecided)
	}
	row("firings", "%d, %d of them again after a change of owner", c.fires, c.repeated)
	over, paused := r.excuses()
	row("firings that ended as they began", "%d", over)
	row("firings that were decided before a stop", "%d", paused)
	if n := len(r.fails); n > 0 {
		row("workers that could not open the timers", "%d, the last one: %s", n, r.fails[n-1])
	}
}

func (r *Report) writeBroken(out io.Writer) {
	for _, what := range slices.Sorted(maps.Keys(r.broken)) {
		all := r.broken[what]
		fmt.Fprintf(out, "BROKEN: %s: %d\n", what, len(all))
		for _, example := range all[:min(len(all), maxExamples)] {
			fmt.Fprintf(out, "    %s\n", example)
		}
	}
	if len(r.broken) == 0 {
		fmt.Fprintln(out, "No promise was broken.")
	}
}
