package main

import (
	"fmt"
	"runtime"
	"time"
)

// tour is one tour: what it is written to, and what it has found so far.
type tour struct {
	*screen
	options
	rows []row
}

func newTour(o options, s *screen) *tour { return &tour{screen: s, options: o} }

// give gives the tour, up to the first section that fails.
func (t *tour) give() error {
	start := time.Now()
	t.welcome()
	for _, section := range []func() error{
		t.million, t.late, t.burst, t.year, t.moved,
	} {
		if t.err != nil {
			return t.err
		}
		if err := section(); err != nil {
			return err
		}
	}
	t.summary(time.Since(start))
	return t.err
}

// scale is how many of n timers this tour takes.
func (t *tour) scale(n int) int {
	if t.short {
		return n / 10
	}
	return n
}

// found notes what was measured, for the summary.
func (t *tour) found(what, wheel, time string) {
	t.rows = append(t.rows, row{what, wheel, time})
}

// compare shows rows, and notes them for the summary.
func (t *tour) compare(rows ...row) {
	t.table(row{"", "wheel", "time.AfterFunc"}, rows)
	t.rows = append(t.rows, rows...)
}

func (t *tour) welcome() {
	long := "ten seconds"
	if t.short {
		long = "two seconds"
	}
	t.line(t.paint(bold, "Epicycle: millions of timers in one Go process"))
	t.line("")
	t.say(`A timing wheel is a clock face. A timer goes into the slot that the hand will
		have come to when it is due, which takes the same few steps whether ten timers are
		waiting or ten million. What is too far away for one turn goes to a slower circle,
		where one slot is a whole turn of the faster one.`)
	t.line("")
	t.say(`This tour takes some %s. It measures as it goes, on this machine: %s/%s,
		%d processors, %s. Wheels are as they come, made with the zero Config.`,
		long, runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0), runtime.Version())
}

func (t *tour) summary(took time.Duration) {
	t.heading("What was measured")
	t.table(row{"", "wheel", "package time"}, t.rows)
	t.line("")
	t.say(`All of this is from this one run, which took %s. A short run on a machine that
		has other things to do varies: easily by half, and the latest timers and slowest
		calls by far more. The careful figures, how they
		were taken, and what the wheel is not better at, are in docs/performance.md and
		docs/precision.md.`, span(took))
}

// broken is what a section says if a promise of the library did not hold.
func broken(format string, args ...any) error {
	return fmt.Errorf("this must never happen: "+format, args...)
}
