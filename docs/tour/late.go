package main

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
)

// delays are measured durations.
type delays []time.Duration

// quantile returns the duration that a share q of them does not exceed. They must be sorted.
func (l delays) quantile(q float64) time.Duration {
	if len(l) == 0 {
		return 0
	}
	return l[min(int(q*float64(len(l))), len(l)-1)]
}

// within returns how many are at least from and less than to.
func (l delays) within(from, to time.Duration) (n int) {
	for _, d := range l {
		if from <= d && d < to {
			n++
		}
	}
	return n
}

// classes are the lines of the histogram. Each ends at its limit.
var classes = []struct {
	name  string
	limit time.Duration
}{
	{"below 10 µs", 10 * time.Microsecond},
	{"to 20 µs", 20 * time.Microsecond},
	{"to 50 µs", 50 * time.Microsecond},
	{"to 100 µs", 100 * time.Microsecond},
	{"to 200 µs", 200 * time.Microsecond},
	{"to 500 µs", 500 * time.Microsecond},
	{"to 1 ms", time.Millisecond},
	{"to 2 ms", 2 * time.Millisecond},
	{"to 5 ms", 5 * time.Millisecond},
	{"more", 1<<63 - 1},
}

// late sets lone timers of a few milliseconds or less, alternately on a wheel and with
// package time, so that both suffer the same disturbances.
func (t *tour) late() error {
	const atLeast, atMost = 200 * time.Microsecond, 5 * time.Millisecond
	n := t.scale(800)
	t.heading("3. How late a timer is")
	t.say(`Many timing wheels advance by ticks and round delays to them, to a millisecond at
		best. This one has no tick: it sleeps until the next deadline. Here are %d timers of
		%s to %s on the wheel and %d with time.AfterFunc, alternately, one at a time. %s
		On a busy machine both also wait for a free processor.`,
		n, span(atLeast), span(atMost), n, whyLate())
	t.line("")
	w, err := hierarchy.New(hierarchy.Config{})
	if err != nil {
		return err
	}
	defer w.Stop()
	var wheel, std delays
	p := t.progress("timers, one after another", n)
	for i := range n {
		d := atLeast + rand.N(atMost-atLeast)
		late, err := lateness(w.AfterFunc, d)
		if err != nil {
			return err
		}
		wheel = append(wheel, late)
		if late, err = lateness(byTime, d); err != nil {
			return err
		}
		std = append(std, late)
		p.at(i + 1)
	}
	p.end()
	return t.lateness(wheel, std)
}

// whyLate explains what makes a timer late on this system.
func whyLate() string {
	if runtime.GOOS != "linux" {
		return `Both are late by the time the system takes to wake the process. On Linux the
			wheel has a more exact alarm than package time; here they have the same one.`
	}
	return `An idle Go process on Linux sleeps for whole milliseconds, which makes
		time.AfterFunc late. The wheel asks the kernel to wake it at the exact nanosecond, and
		is late by the time a sleeping processor takes to wake up.`
}

// lateness returns how late a timer of d runs, measured from before it is set.
func lateness[H handle](after afterFunc[H], d time.Duration) (time.Duration, error) {
	late := make(chan time.Duration, 1)
	start := time.Now()
	if _, err := after(d, func() { late <- time.Since(start) - d }); err != nil {
		return 0, err
	}
	return <-late, nil
}

// lateness shows both distributions side by side.
func (t *tour) lateness(wheel, std delays) error {
	const barWide = 22
	slices.Sort(wheel)
	slices.Sort(std)
	t.line(indent + t.paint(bold, left("late by", 14)+left("  wheel", 8+barWide+2)+"time.AfterFunc"))
	from := time.Duration(0)
	for _, c := range classes {
		ws, ts := wheel.within(from, c.limit), std.within(from, c.limit)
		t.line(fmt.Sprintf("%s%s%5s %s  %5s %s", indent, left(c.name, 14),
			some(ws), t.paint(ours, left(bar(ws, len(wheel), barWide), barWide)),
			some(ts), t.paint(theirs, bar(ts, len(std), barWide))))
		from = c.limit
	}
	t.line("")
	early := wheel.within(-1<<63, 0)
	t.compare(
		row{"lone timers: half are late by at most", span(wheel.quantile(0.5)), span(std.quantile(0.5))},
		row{"lone timers: 99 % are late by at most", span(wheel.quantile(0.99)), span(std.quantile(0.99))},
		row{"lone timers: before their time", fmt.Sprintf("%d early", early), fmt.Sprintf("%d early", std.within(-1<<63, 0))},
	)
	if early > 0 {
		return broken("%d timers of the wheel ran before their time", early)
	}
	return nil
}

// some formats n, or returns an empty string for 0.
func some(n int) string {
	if n == 0 {
		return ""
	}
	return count(n)
}
