//go:build linux

package main

import (
	"math"
	"time"
)

// wallCheck is how soon it is noticed that the wall clock was set.
const wallCheck = 10 * time.Second

// judgeLate checks that no timer is late where nothing has happened that it could wait for.
func (h *history) judgeLate(r *report) {
	if !h.Strict {
		return
	}
	for i := range h.fires {
		f := &h.fires[i]
		if f.of == nil || f.Attempt > 1 || f.of.by.result() != took {
			continue
		}
		for _, t := range h.ownersOf(f) {
			if by, isLate := h.isLate(t, f); isLate {
				r.broke(late, "%s, by %v in epoch %d", describe(f), by, t.epoch)
			}
		}
	}
}

// ownersOf are the tenures in which a timer was pending, as far as they are known.
func (h *history) ownersOf(f *fire) (all []*tenure) {
	p, first := partitionOf(f.Key, h.Partitions), f.Epoch
	if t := h.setIn(f); t != nil {
		first = min(first, t.epoch)
	}
	for _, t := range h.tenures {
		if t.partition == p && first <= t.epoch && (t.epoch < f.Epoch || t == h.tenureOf(f)) {
			all = append(all, t)
		}
	}
	return all
}

// isLate tells whether a timer was due in a tenure long before it fired, or before the tenure ended.
func (h *history) isLate(t *tenure, f *fire) (by time.Duration, is bool) {
	until, clock, limit := min(f.Time, h.endOf(t)), h.clocks[t.worker], overtime
	since := max(f.of.by.answer.Time, t.to)
	if !f.of.isWall() {
		since = max(since, f.Due-h.Zero-t.offset)
	} else {
		since = max(since, f.Due-h.Zero-clock.between(until, until)[0])
		if set := clock.lastSet(until); set > f.of.by.Time {
			since, limit = max(since, set), limit+wallCheck
		}
	}
	by = time.Duration(until - since)
	return by, by > limit && !h.disturbed(since, until)
}

// endOf is a time at which a tenure had not ended yet: that of the last call that is in the log before
// the next takeover.
func (h *history) endOf(t *tenure) int64 {
	next, end := uint64(math.MaxUint64), int64(math.MaxInt64)
	for _, o := range h.tenures {
		if o.partition == t.partition && t.epoch < o.epoch && o.epoch < next {
			next, end = o.epoch, o.from
		}
	}
	return end
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
