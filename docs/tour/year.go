package main

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/hierarchy/view/terminal"
)

const (
	months   = 12
	month    = 730 * time.Hour
	aYear    = months * month // 365 days
	jobEvery = time.Minute
)

// year runs a year on a mock clock.
func (t *tour) year() error {
	n := t.scale(1_000_000)
	t.Heading("5. A year in a second")
	t.Say(`In tests and simulations, time comes from a mock clock, which the test moves. Here
		it moves by a year, with %s timers set at random over that year and a job that runs
		every minute. Each timer checks the clock when it runs.`, terminal.Count(n))
	t.Line("")
	y, err := pass(n, t.Progress("months of the mock year", months))
	if err != nil {
		return err
	}
	t.Say(`The year took %s. %s timers ran: %d early, %d late by a nanosecond or more,
		%d out of order. The job ran %s times. Nothing slept: a test on a mock clock spends
		no time waiting, and has the same result every time.`,
		terminal.Span(y.took), terminal.Count(y.ran), y.early, y.late, y.disorder, terminal.Count(y.jobs))
	t.found(fmt.Sprintf("a mock year with %s timers", terminal.Count(n)), terminal.Span(y.took), "–")
	if y.ran != n || y.early+y.late+y.disorder > 0 || y.jobs != int(aYear/jobEvery) {
		return broken("on a mock clock timers were not exact: %+v", y)
	}
	return nil
}

// passed counts the events of a mock year.
type passed struct {
	took                       time.Duration
	ran, early, late, disorder int
	jobs                       int
}

// pass sets n timers over a mock year and moves the clock through it.
func pass(n int, p *terminal.Progress) (y passed, err error) {
	defer p.End()
	mock := clock.NewMock()
	var before time.Duration
	timers, err := hierarchy.NewOf(hierarchy.Config{Clock: mock}, func(due time.Duration) {
		y.note(mock.Elapsed()-due, due < before)
		before = due
	})
	if err != nil {
		return y, err
	}
	defer timers.Stop()
	jobs, err := hierarchy.New(hierarchy.Config{Clock: mock})
	if err != nil {
		return y, err
	}
	defer jobs.Stop()
	if _, err = jobs.Every(jobEvery, func() { y.jobs++ }); err != nil {
		return y, err
	}
	for range n {
		due := rand.N(aYear + 1)
		if _, err = timers.Set(due, due); err != nil {
			return y, err
		}
	}
	start := time.Now()
	for m := range months {
		mock.Add(month)
		p.At(m + 1)
	}
	y.took = time.Since(start)
	return y, nil
}

// note counts a timer that ran the given time after its deadline.
func (y *passed) note(after time.Duration, disorder bool) {
	y.ran++
	switch {
	case after < 0:
		y.early++
	case after > 0:
		y.late++
	}
	if disorder {
		y.disorder++
	}
}
