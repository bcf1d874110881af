package main

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/hierarchy/view/terminal"
)

// classes are the lines of the histogram.
var classes = terminal.Classes(10*time.Microsecond, 20*time.Microsecond, 50*time.Microsecond, 100*time.Microsecond,
	200*time.Microsecond, 500*time.Microsecond, time.Millisecond, 2*time.Millisecond, 5*time.Millisecond)

// late sets lone timers of a few milliseconds or less, alternately on a wheel and with
// package time, so that both suffer the same disturbances.
func (t *tour) late() error {
	const atLeast, atMost = 200 * time.Microsecond, 5 * time.Millisecond
	n := t.scale(800)
	t.Heading("3. How late a timer is")
	t.Say(`Many timing wheels advance by ticks and round delays to them, to a millisecond at
		best. This one has no tick: it sleeps until the next deadline. Here are %d timers of
		%s to %s on the wheel and %d with time.AfterFunc, alternately, one at a time. %s
		On a busy machine both also wait for a free processor.`,
		n, terminal.Span(atLeast), terminal.Span(atMost), n, whyLate())
	t.Line("")
	w, err := hierarchy.New(hierarchy.Config{})
	if err != nil {
		return err
	}
	defer w.Stop()
	var wheel, std terminal.Delays
	p := t.Progress("timers, one after another", n)
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
		p.At(i + 1)
	}
	p.End()
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

// lateness returns the time by which a timer with the delay d runs late. The delay is counted from just before the
// timer is set.
func lateness[H handle](after afterFunc[H], d time.Duration) (time.Duration, error) {
	late := make(chan time.Duration, 1)
	start := time.Now()
	if _, err := after(d, func() { late <- time.Since(start) - d }); err != nil {
		return 0, err
	}
	return <-late, nil
}

// lateness shows both distributions side by side.
func (t *tour) lateness(wheel, std terminal.Delays) error {
	const barWide = 22
	wheel.Sort()
	std.Sort()
	t.Line(terminal.Indent + t.Paint(terminal.Bold, terminal.Left("late by", 14)+terminal.Left("  wheel", 8+barWide+2)+"time.AfterFunc"))
	for _, c := range classes {
		ws, ts := wheel.Within(c.From, c.Limit), std.Within(c.From, c.Limit)
		t.Line(fmt.Sprintf("%s%s%5s %s  %5s %s", terminal.Indent, terminal.Left(c.Name, 14),
			terminal.Some(ws), t.Paint(ours, terminal.Left(terminal.Bar(ws, len(wheel), barWide), barWide)),
			terminal.Some(ts), t.Paint(theirs, terminal.Bar(ts, len(std), barWide))))
	}
	t.Line("")
	early := wheel.Within(-1<<63, 0)
	t.compare(
		row{"lone timers: half are late by at most", terminal.Span(wheel.Quantile(0.5)), terminal.Span(std.Quantile(0.5))},
		row{"lone timers: 99 % are late by at most", terminal.Span(wheel.Quantile(0.99)), terminal.Span(std.Quantile(0.99))},
		row{"lone timers: before their time", fmt.Sprintf("%d early", early), fmt.Sprintf("%d early", std.Within(-1<<63, 0))},
	)
	if early > 0 {
		return broken("%d timers of the wheel ran before their time", early)
	}
	return nil
}
