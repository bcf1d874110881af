//go:build linux

package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

const (
	wallCheck = 10 * time.Second // how soon it is noticed that the wall clock was set
	// lateLimit is how late a timer may be beside what excuses it, if not only little may be: several faults
	// together take longer than one after the other.
	lateLimit = 10 * time.Second
	aloneLate = time.Second               // where nothing happens at all
	clocksOff = 2*mostOff + 5*time.Second // how much earlier or later than asked for a timer may be by another owner's clock
	everLate  = time.Hour                 // no excuse is as good as that
	quietLate = time.Second               // of 99 % of the timers that wait for nothing
	quietFew  = 200                       // say nothing about that
)

// limit is how late a timer may be beside what excuses it.
func (h *history) limit() time.Duration {
	switch {
	case h.Alone:
		return aloneLate
	case h.Strict:
		return overtime
	}
	return lateLimit
}

// judgeLate checks that no timer is later than what has happened can explain: by its owner's clock, and
// by a right one.
func (h *history) judgeLate(r *report) {
	for i := range h.fires {
		f := &h.fires[i]
		if f.of == nil || f.Attempt > 1 || f.of.by.result() != took {
			continue
		}
		since, limit := h.dueBy(f)
		h.judgeSince(r, f, since, limit, "by its owner's clock")
		if !f.of.isWall() && f.of.by.Op == opSet || f.of.by.Op == opMove {
			right := f.of.by.answer.Time + f.of.by.In
			h.judgeSince(r, f, right+int64(clocksOff), limit, "by a right clock")
			if by := time.Duration(f.of.by.Time + f.of.by.In - f.Time); by > clocksOff {
				r.broke(early, "%s, by %v by a right clock", describe(f), by)
			}
		}
	}
	r.quiet.Sort()
	if n := len(r.quiet); n >= quietFew && r.quiet.Quantile(.99) > quietLate {
		r.broke(late, "99 %% of %d timers that waited for nothing were late by up to %v", n, r.quiet.Quantile(.99))
	}
}

// dueBy is when a timer was due by the clock of the owner that fired it, and known to be there, and how late it
// may be then.
func (h *history) dueBy(f *fire) (since int64, limit time.Duration) {
	since, limit = max(f.of.by.answer.Time, f.ready), h.limit()
	if !f.of.isWall() {
		return since, limit
	}
	clock := h.clocks[f.worker]
	since = max(f.of.by.answer.Time, f.Due-h.Zero-clock.between(f.Time, f.Time)[0])
	if set := clock.lastSet(f.Time); set > f.of.by.Time {
		since, limit = max(since, set), limit+wallCheck
	}
	return since, limit
}

// judgeSince checks that a firing is not late since then by more than a limit and what excuses it.
func (h *history) judgeSince(r *report, f *fire, since int64, limit time.Duration, clock string) {
	by := time.Duration(f.Time - since)
	excused, why := h.excuse(since, f.Time)
	switch {
	case by >= everLate:
	case by-excused > limit:
	default:
		if excused == 0 && clock == "by its owner's clock" {
			r.quiet = append(r.quiet, max(0, by))
		}
		return
	}
	r.broke(late, "%s, by %v %s, of which %v are explained%s", describe(f), by, clock, excused, why)
}

// excuse is for how long between two times faults had effects, and which.
func (h *history) excuse(from, to int64) (sum time.Duration, why string) {
	var names []string
	for _, e := range h.Events { // sorted by From
		begins, ends := max(e.From, from), min(h.effects(&e), to)
		if !e.disturbs() || begins >= ends {
			continue
		}
		if sum += time.Duration(ends - begins); !slices.Contains(names, e.Fault) {
			names = append(names, e.Fault)
		}
		from = ends // so that no time counts twice
	}
	if len(names) > 0 {
		why = fmt.Sprintf(" by: %s", strings.Join(names, ", "))
	}
	return sum, why
}

// disturbed tells whether a fault had effects at some time between two.
func (h *history) disturbed(from, to int64) bool {
	return slices.ContainsFunc(h.Events, func(e event) bool { return e.disturbs() && e.From <= to && h.effects(&e) >= from })
}

// disturbs tells whether a fault holds anything up. That a clock is set does not.
func (e *event) disturbs() bool { return e.Fault != setClock }

// effects is until when a fault has effects.
func (h *history) effects(e *event) int64 {
	switch {
	case e.Fault == busyMachine:
		return e.To + int64(busyTime)
	case e.Server > 0 || slices.Contains([]string{killMajority, killAll, stopAll}, e.Fault):
		return e.To + int64(serverTime)
	}
	return e.To + int64(2*h.Lease)
}
