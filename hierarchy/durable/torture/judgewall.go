//go:build linux

package main

import "time"

// justBefore is how long before a handler its timer was found to be due, on a busy machine.
const justBefore = time.Second

// judgeWall checks the first attempt of a timer of SetAt. It is due when its owner's wall clock shows its time.
// If that clock is set back then, the handler is called all the same. That is soon, unless something
// has happened to the lease or to the log. Such firings are counted.
func (h *history) judgeWall(r *report, f *fire) {
	if f.Due != f.of.by.Due {
		r.broke(misdue, "%s, instead of %d", describe(f), f.of.by.Due)
	}
	clock := h.clocks[f.worker]
	now := clock.between(f.Time, f.Time)
	f.ready = f.Due - h.Zero - now[len(now)-1]
	at, ok := clock.lastShown(f.Due, h.Zero, max(f.of.by.Time, h.tenureOf(f).from), f.Time)
	switch {
	case !ok:
		r.broke(early, "%s, by %v", describe(f), time.Duration(f.ready-f.Time))
	case at >= f.Time-int64(justBefore):
	case h.disturbed(at, f.Time):
		r.setBack++
	default:
		r.broke(early, "%s, by %v, %v after the clock was set back", describe(f), time.Duration(f.ready-f.Time), time.Duration(f.Time-at))
	}
}

// wallCheck is how soon it is noticed that the wall clock was set.
const wallCheck = 10 * time.Second

// judgeLate checks that no timer is late where nothing has happened that it could wait for.
func (h *history) judgeLate(r *report) {
	for i := range h.fires {
		f := &h.fires[i]
		if f.of == nil || f.Attempt > 1 || f.of.by.result() != took {
			continue
		}
		since, limit := max(f.ready, f.of.by.answer.Time, h.tenureOf(f).to), overtime
		if f.of.isWall() {
			if set := h.clocks[f.worker].lastSet(f.Time); set > f.of.by.Time {
				since, limit = max(since, set), limit+wallCheck
			}
		}
		if by := time.Duration(f.Time - since); by > limit && h.Strict && !h.disturbed(since, f.Time) {
			r.broke(late, "%s, by %v", describe(f), by)
		}
	}
}

// lastSet is when the clock was set for the last time before a time, or 0.
func (c wallClock) lastSet(before int64) (at int64) {
	for _, s := range c[1:] {
		if s.from < before {
			at = s.to
		}
	}
	return at
}

// disturbed tells whether a fault had effects at some time between two. That a clock is set is none.
func (h *history) disturbed(from, to int64) bool {
	for _, e := range h.Events {
		if e.Fault != setClock && e.From <= to && h.effects(e) >= from {
			return true
		}
	}
	return false
}

// effects is until when a fault has effects.
func (h *history) effects(e event) int64 {
	switch e.Fault {
	case killServer, stopServer, cutServer, killMajority:
		return e.To + int64(serverTime)
	}
	return e.To + int64(2*h.Lease)
}
