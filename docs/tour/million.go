package main

import (
	"fmt"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/hierarchy/view/terminal"
)

const (
	shortest = 100 * time.Microsecond
	longest  = 100 * 365 * 24 * time.Hour
)

// million sets very many timers, reads which slots they are in, and cancels them. Then it sets and cancels the same
// timers with package time. The two crowds never exist together, as the garbage collector would then scan both.
func (t *tour) million() error {
	delays := make([]time.Duration, t.scale(1_000_000))
	for i := range delays {
		delays[i] = anyDelay(shortest, longest)
	}
	n := len(delays)
	t.Heading(fmt.Sprintf("1. Setting %s timers", terminal.Count(n)))
	t.Say("Each timer has a random delay between %s and %s.", terminal.Span(shortest), terminal.Span(longest))
	t.Line("")
	wheel, circles, err := t.crowdOnWheel(delays)
	if err != nil {
		return err
	}
	std := newCrowd(n, byTime)
	if err := comeAndGo(t, std, "time.AfterFunc", delays, func() {}); err != nil {
		return err
	}
	t.compare(
		row{fmt.Sprintf("setting one of %s timers", terminal.Count(n)), terminal.Each(wheel.setting, n), terminal.Each(std.setting, n)},
		row{"memory per timer", perTimer(wheel.bytes, n), perTimer(std.bytes, n)},
	)
	t.circles(circles)
	t.cancelled(wheel, std)
	return nil
}

// crowdOnWheel sets and cancels the timers on a wheel. It also returns the circles as they were when all timers were
// set.
func (t *tour) crowdOnWheel(delays []time.Duration) (
	c *crowd[hierarchy.Timer], circles []hierarchy.CircleStats, err error,
) {
	w, err := hierarchy.New(hierarchy.Config{})
	if err != nil {
		return nil, nil, err
	}
	defer w.Stop()
	c = newCrowd(len(delays), w.AfterFunc)
	if err := comeAndGo(t, c, "the wheel", delays, func() { circles = w.Circles() }); err != nil {
		return nil, nil, err
	}
	if !c.settle() {
		return nil, nil, broken("%d timers were set, %d cancelled, and %d ran",
			len(delays), c.ended, c.fired.Load())
	}
	return c, circles, nil
}

// comeAndGo sets and cancels a crowd, and calls meanwhile in between.
func comeAndGo[H handle](t *tour, c *crowd[H], name string, delays []time.Duration, meanwhile func()) error {
	if err := c.set(delays, t.Progress("setting timers: "+name, len(delays))); err != nil {
		return err
	}
	meanwhile()
	c.cancel(t.Progress("cancelling them: "+name, len(delays)))
	return nil
}

// perTimer formats the memory of one of n timers, to the nearest byte.
func perTimer(bytes int64, n int) string { return terminal.Amount((bytes + int64(n)/2) / int64(n)) }

// cancelled shows the result of cancelling both crowds.
func (t *tour) cancelled(wheel *crowd[hierarchy.Timer], std *crowd[*time.Timer]) {
	n := len(wheel.timers)
	t.Heading(fmt.Sprintf("2. Cancelling them, all %s", terminal.Count(n)))
	t.Say(`Most timers of a server never fire: the answer comes, and the timeout is cancelled.
		Here %s of the wheel's timers were cancelled, and %s had fired before. That makes %s:
		none was lost, and none fired twice.`, terminal.Count(wheel.ended), terminal.Count(wheel.fired.Load()), terminal.Count(n))
	t.Line("")
	t.compare(
		row{"cancelling one of them", terminal.Each(wheel.ending, n), terminal.Each(std.ending, n)},
		row{"memory left when all are gone", terminal.Amount(wheel.left), terminal.Amount(std.left)},
	)
	t.Line("")
	t.Say("Package time frees the rest when it next cleans up its timers.")
}
