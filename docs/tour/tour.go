package main

import (
	"fmt"
	"runtime"
	"time"
)

// tour is one tour: its screen, its options and its measurements.
type tour struct {
	*screen
	options
	rows []row
}

func newTour(o options, s *screen) *tour { return &tour{screen: s, options: o} }

// give runs all sections, or stops at the first one that fails.
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

// scale returns how many of n timers this tour uses.
func (t *tour) scale(n int) int {
	if t.short {
		return n / 10
	}
	return n
}

// found keeps a measurement for the summary.
func (t *tour) found(what, wheel, time string) {
	t.rows = append(t.rows, row{what, wheel, time})
}

// compare shows rows, and keeps them for the summary.
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
	t.say(`A timing wheel is like a clock face. A timer goes into the slot that the hand reaches
		when the timer is due. That takes the same few steps whether ten timers are pending
		or ten million. A timer that is more than one turn away goes to a coarser circle,
		where one slot is a whole turn of the finer one.`)
	t.line("")
	t.say(`This tour runs for about %s and measures on this machine: %s/%s, %d
		processors, %s. All wheels use the zero Config.`,
		long, runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0), runtime.Version())
}

func (t *tour) summary(took time.Duration) {
	t.heading("What was measured")
	t.table(row{"", "wheel", "package time"}, t.rows)
	t.line("")
	t.say(`All of these figures are from this one run, which took %s. Short runs on a machine
		that does other work easily vary by half, and the latest timers and slowest calls
		by far more. See docs/performance.md and docs/precision.md for careful measurements,
		how they were made, and where the wheel is not better.`, span(took))
}

// broken returns the error of a section in which a guarantee of the library did not hold.
func broken(format string, args ...any) error {
	return fmt.Errorf("this must never happen: "+format, args...)
}
