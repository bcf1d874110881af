package main

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
)

// delays are durations that were measured.
type delays []time.Duration

// quantile is what a share of q of them does not exceed. They must be in order.
func (l delays) quantile(q float64) time.Duration {
	if len(l) == 0 {
		return 0
	}
	return l[min(int(q*float64(len(l))), len(l)-1)]
}

// within is how many are at least from and below to.
func (l delays) within(from, to time.Duration) (n int) {
	for _, d := range l {
		if from <= d && d < to {
			n++
		}
	}
	return n
}

// classes are the lines of the histogram: each up to its limit.
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

// late sets lone timers of some milliseconds and less, by turns on a wheel and with
// package time, so that both meet the same disturbances.
func (t *tour) late() error {
	const atLeast, atMost = 200 * time.Microsecond, 5 * time.Millisecond
	n := t.scale(800)
	t.heading("3. How late a timer is")
	t.say(`Many timing wheels go on by ticks and round to them, to a millisecond at best.
		This one has no tick: it sleeps until the next deadline. Here are %d timers of %s
		to %s on the wheel and %d with time.AfterFunc, by turns, one at a time. %s
		On a busy machine both wait for a free processor besides.`,
		n, span(atLeast), span(atMost), n, whyLate())
	t.line("")
	w, err := hierarchy.New(hierarchy.Config{})
	if err != nil {
		return err
	}
	defer w.Stop()
	var wheel, std delays
	p := t.progress("timers, one after the other", n)
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

// whyLate tells what a timer waits for after its time on this system.
func whyLate() string {
	if runtime.GOOS != "linux" {
		return `What either is late by is the time it takes the system to wake the process up.
			On Linux the wheel has a finer alarm than package time; here they have the same.`
	}
	return `An idle Go process on Linux sleeps for whole milliseconds, and time.AfterFunc
		waits for that. The wheel has the kernel wake it to the nanosecond, and is late by
		the time it takes a sleeping processor to get up.`
}

// lateness is how late a timer of d runs. It is counted from before it is set.
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

// some is n, and nothing for 0.
func some(n int) string {
	if n == 0 {
		return ""
	}
	return count(n)
}
