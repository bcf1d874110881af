package judge

import (
	"math"
	"slices"
	"strings"
	"time"
)

const (
	wallCheck = 10 * time.Second // how long it may take to notice that the wall clock was set
	everLate  = time.Hour        // nothing excuses being late by that much
	// maxSkew is how far an owner's clock may be off at its takeover: the default of durable.Config.
	maxSkew = 5 * time.Second
	// MostOff is how far off, at most, the clock of a worker is that was not set.
	MostOff = 2 * time.Second
	// ClocksOff is how much too early or too late a timer may be by an accurate clock, since the clocks of its
	// owners may be off.
	ClocksOff = 2 * maxSkew

	quietLate = time.Second // 99 % of the timers that wait for nothing are less late
	quietFew  = 200         // fewer timers are too few for that
)

// limit returns how late a timer may be beyond what the faults explain. While faults are in progress, it is more than
// twice the lease: a fault of a process that was about to take the partition over can't be attributed to the partition,
// and several faults at once take longer than one after the other.
func (h *History) limit(quiet bool) time.Duration {
	switch {
	case h.Alone:
		return time.Second
	case h.Strict:
		return overtime
	case quiet:
		return 5 * time.Second
	}
	return 10 * time.Second
}

// judgeLate checks that no timer is later than the faults explain: by its owner's clock, and by an accurate one.
func (h *History) judgeLate(r *Report) {
	for i := range h.fires {
		f := &h.fires[i]
		if f.of == nil || f.Attempt > 1 || f.of.by.result() != Took {
			continue
		}
		since, more := h.dueBy(f)
		h.judgeSince(r, f, since, more)
		if f.of.isWall() {
			continue
		}
		set, asked := f.of.by.answer.Time, f.of.by.In
		h.judgeSince(r, f, set+asked, ClocksOff)
		if by := time.Duration(f.of.by.Time + asked - f.Time); by > ClocksOff {
			r.broke(early, "%s, by %v by a right clock", describe(f), by)
		}
	}
	r.quiet.Sort()
	if n := len(r.quiet); n >= quietFew && r.quiet.Quantile(.99) > quietLate {
		r.broke(late, "1 %% of %d timers that waited for nothing were late by more than %v", n, r.quiet.Quantile(.99))
	}
}

// dueBy returns since when a timer was both set, and due by the clocks of the owner that set it and of the owner that
// fired it, and how much later the latter may have noticed that.
func (h *History) dueBy(f *fire) (since int64, more time.Duration) {
	since = f.of.by.answer.Time
	owners := []*tenure{h.tenureOf(f)}
	if first := h.setIn(f); first != nil && first != owners[0] {
		owners = append(owners, first)
	}
	for _, t := range owners {
		offset := t.offset
		if clock := h.clocks[t.worker]; f.of.isWall() {
			offset = clock.between(f.Time, f.Time)[0]
			if set := clock.lastSet(f.Time); set > f.of.by.Time {
				since, more = max(since, set), wallCheck
			}
		}
		since = max(since, f.Due-h.Zero-offset)
	}
	return since, more
}

// judgeSince checks that a firing is not later than what excuses it, plus some more.
func (h *History) judgeSince(r *Report, f *fire, since int64, more time.Duration) {
	by := time.Duration(f.Time - since)
	excused, why := h.excuse(partitionOf(f.Key, h.Partitions), since, f.Time)
	quiet := !h.disturbed(since, f.Time)
	if by >= everLate || by-excused > h.limit(quiet)+more {
		r.broke(late, "%s, by %v, of which %v are explained%s", describe(f), by, excused, why)
	} else if quiet && more == 0 {
		r.quiet = append(r.quiet, max(0, by))
	}
}

// excuse returns for how long between two times faults had effects on a partition, and which faults.
func (h *History) excuse(partition int, from, to int64) (sum time.Duration, why string) {
	var names []string
	for i := range h.Events { // sorted by From
		e := &h.Events[i]
		begins, ends := max(e.From, from), min(h.effects(e), to)
		if !e.disturbs() || begins >= ends || !h.touches(e, partition) {
			continue
		}
		from = ends // no time counts twice
		if sum += time.Duration(ends - begins); !slices.Contains(names, e.Fault) {
			names = append(names, e.Fault)
		}
	}
	if len(names) > 0 {
		why = " by: " + strings.Join(names, ", ")
	}
	return sum, why
}

// touches reports whether an event may have affected a partition. An event of a worker may have if the worker was the
// owner.
func (h *History) touches(e *Event, partition int) bool {
	return e.Worker == 0 || slices.ContainsFunc(h.tenures, func(t *tenure) bool {
		return t.worker == e.Worker && t.partition == partition && t.from < h.effects(e) && h.endOf(t) > e.From
	})
}

// endOf returns a time at which the next tenure of the partition had begun.
func (h *History) endOf(t *tenure) int64 {
	next, end := uint64(math.MaxUint64), int64(math.MaxInt64)
	for _, o := range h.tenures {
		if o.partition == t.partition && t.epoch < o.epoch && o.epoch < next {
			next, end = o.epoch, o.to
		}
	}
	return end
}

// disturbed reports whether a fault had effects at some time between the two.
func (h *History) disturbed(from, to int64) bool {
	return slices.ContainsFunc(h.Events, func(e Event) bool { return e.disturbs() && e.From <= to && h.effects(&e) >= from })
}

// disturbs reports whether a fault holds anything up. Setting a clock does not.
func (e *Event) disturbs() bool { return e.Fault != SetClock }

// effects returns the time until which a fault has effects.
func (h *History) effects(e *Event) int64 {
	switch {
	case e.Fault == BusyMachine:
		return e.To + int64(busyTime)
	case e.Server > 0 || slices.Contains([]string{KillMajority, KillAll, StopAll}, e.Fault):
		return e.To + int64(serverTime)
	}
	return e.To + int64(2*h.Lease)
}
