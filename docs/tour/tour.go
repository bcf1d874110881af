package main

import (
	"fmt"
	"runtime"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/view/terminal"
)

// tour is one tour: its screen, its options and its measurements.
type tour struct {
	*terminal.Screen
	options
	rows []row
}

func newTour(o options, s *terminal.Screen) *tour { return &tour{Screen: s, options: o} }

// give runs all sections, or stops at the first one that fails.
func (t *tour) give() error {
	start := time.Now()
	t.welcome()
	for _, section := range []func() error{
		t.million, t.late, t.burst, t.year, t.moved,
	} {
		if t.Err() != nil {
			return t.Err()
		}
		if err := section(); err != nil {
			return err
		}
	}
	t.summary(time.Since(start))
	return t.Err()
}

// scale returns the number of timers that this tour uses in place of n.
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
	t.Line(t.Paint(terminal.Bold, "Epicycle: millions of timers in one Go process"))
	t.Line("")
	t.Say(`A timing wheel is like a clock face. A timer goes into the slot that the hand reaches
		when the timer is due. That takes the same few steps whether ten timers are pending
		or ten million. A timer that is more than one turn away goes to a coarser circle,
		where one slot is a whole turn of the finer one.`)
	t.Line("")
	t.Say(`This tour runs for about %s and measures on this machine: %s/%s, %d
		processors, %s. All wheels use the zero Config.`,
		long, runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0), runtime.Version())
}

func (t *tour) summary(took time.Duration) {
	t.Heading("What was measured")
	t.table(row{"", "wheel", "package time"}, t.rows)
	t.Line("")
	t.Say(`All of these figures are from this one run, which took %s. Short runs on a machine
		that does other work easily vary by half, and the latest timers and slowest calls
		by far more. See docs/performance.md and docs/precision.md for careful measurements,
		how they were made, and where the wheel is not better.`, terminal.Span(took))
}

// broken returns the error of a section in which a guarantee of the library did not hold.
func broken(format string, args ...any) error {
	return fmt.Errorf("this must never happen: "+format, args...)
}
