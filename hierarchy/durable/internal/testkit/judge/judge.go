// Package judge has the records of processes that share durable timers, or set some, and of what happened to them
// meanwhile, and judges these by the promises. The demo and the torture test use it. It doesn't judge how late timers
// are, and when partitions change hands: package simulate does, as nothing else holds it up.
package judge

import (
	"fmt"
	"strings"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/linear"
)

// The promises that can be broken, as reports name them.
const (
	Lost        = "timers were acknowledged and never handled"
	Revived     = "timers fired after what replaced or removed them was answered"
	Early       = "timers fired early"
	misdue      = "timers were due at another time than asked for"
	Stranger    = "timers fired that nobody has set"
	sameID      = "IDs belong to more than one timer"
	Twice       = "operations were committed more than once"
	fell        = "attempts fell, or came again without a change of owner"
	backwards   = "epochs went back without a pause"
	manyAfter   = "stops had too many firings after them that were decided before"
	hanging     = "calls ended later than their contexts"
	disorder    = "keys' operations have no order"
	failing     = "calls failed for a reason that there should not be"
	otherwise   = "problems"
	maxExamples = 4
)

// Judge compares the records with everything that is promised.
func (h *History) Judge() *Report {
	r := newReport()
	for _, p := range h.Problems {
		r.broke(otherwise, "%s", p)
	}
	for i := range h.Events {
		r.faults[h.Events[i].Fault]++
	}
	for i := range h.calls {
		c := &h.calls[i]
		r.counts.add(c)
		if c.result() == Failed {
			r.broke(failing, "worker %d, %s of %s: %s", c.worker, c.Op, c.Key, c.answer.Error)
		}
	}
	r.counts.fires = len(h.fires)
	r.fails = h.fails
	h.judgeOrder(r)
	h.judgeLimits(r)
	h.judgeTimers(r)
	h.judgeIDs(r)
	h.judgeEpochs(r)
	return r
}

// orderTime limits the search for an order of the operations on a key.
const orderTime = 30 * time.Second

var kinds = map[string]frame.Kind{OpSet: frame.Set, OpSetAt: frame.SetAt, OpMove: frame.Move, OpMoveAt: frame.Move,
	OpRemove: frame.Remove}

// judgeOrder checks promise 2.
func (h *History) judgeOrder(r *Report) {
	var all []linear.Call
	for i := range h.calls {
		c := &h.calls[i]
		if !strings.HasPrefix(c.Key, SharedKeys) || c.isVoid() {
			continue
		}
		l := linear.Call{Caller: c.worker<<8 + c.Caller, Begun: c.Time, Input: linear.Input{Kind: kinds[c.Op], Key: c.Key, Value: c.Value}}
		if l.Output.Unknown = c.result() == Unknown; !l.Output.Unknown {
			l.Ended = c.answer.Time
			l.Output.OK, l.Output.Value = c.answer.OK, c.answer.Value
		}
		all = append(all, l)
	}
	r.compared = len(all)
	r.linear = linear.Check(all, orderTime)
	switch {
	case r.linear.Illegal:
		r.broke(disorder, "see history.txt")
	case !r.linear.OK:
		r.undecided++
	}
}

// overtime is how much later than its context a call may end on a busy machine.
const overtime = 3 * time.Second

// judgeLimits checks that no call hangs beyond its context.
func (h *History) judgeLimits(r *Report) {
	for i := range h.calls {
		c := &h.calls[i]
		if c.answer == nil {
			continue
		}
		long := c.answer.Time - c.Time
		for _, e := range h.stops(c.worker) {
			if e.From < c.answer.Time && e.To > c.Time {
				long -= min(e.To, c.answer.Time) - max(e.From, c.Time)
			}
		}
		if long > c.Limit+int64(overtime) {
			r.broke(hanging, "worker %d, %s of %s: %v instead of %v", c.worker, c.Op, c.Key, time.Duration(long), time.Duration(c.Limit))
		}
	}
}

// Backoff is how long after a failed attempt the next one is due.
const Backoff = 50 * time.Millisecond

// judgeIDs checks that no two timers have the same ID, and that attempts increase.
func (h *History) judgeIDs(r *Report) {
	type place struct {
		worker int
		epoch  uint64
	}
	first := map[string]*fire{}
	highest := map[string]int{}
	last := map[string]map[place]*fire{}
	for i := range h.fires {
		f := &h.fires[i]
		if first[f.ID] == nil {
			first[f.ID], last[f.ID] = f, map[place]*fire{}
		}
		if b := first[f.ID]; b.Key != f.Key || b.Value != f.Value || b.Due != f.Due && b.Attempt == f.Attempt {
			r.broke(sameID, "%s: %s and %s", f.ID, describe(b), describe(f))
		}
		at := place{f.worker, f.Epoch}
		before := last[f.ID][at]
		if before != nil && before.end != nil && !before.end.OK && f.Time < before.end.Time+int64(Backoff) {
			r.broke(Early, "%s, %v after %s", describe(f), time.Duration(f.Time-before.end.Time), describe(before))
		}
		switch {
		case before != nil && (before.done() || before.Attempt >= f.Attempt):
			r.broke(fell, "%s after %s", describe(f), describe(before))
		case highest[f.ID] > f.Attempt && !h.excused(r, f):
			r.broke(fell, "%s after attempt %d", describe(f), highest[f.ID])
		case highest[f.ID] > 0 && highest[f.ID] >= f.Attempt:
			r.counts.repeated++
		}
		last[f.ID][at] = f
		highest[f.ID] = max(highest[f.ID], f.Attempt)
	}
}

func describe(f *fire) string {
	return fmt.Sprintf("%s %q (attempt %d, epoch %d, worker %d, at %d, due %d)", f.Key, f.Value, f.Attempt, f.Epoch, f.worker, f.Time, f.Due)
}

// judgeEpochs checks that an old owner calls no handler after a new owner has.
func (h *History) judgeEpochs(r *Report) {
	newest := make([]*fire, h.Partitions)
	for i := range h.fires {
		f := &h.fires[i]
		n := newest[partitionOf(f.Key, h.Partitions)]
		if n != nil && n.Epoch > f.Epoch {
			if !h.excused(r, f) {
				r.broke(backwards, "%s after %s", describe(f), describe(n))
			}
			continue
		}
		newest[partitionOf(f.Key, h.Partitions)] = f
	}
}

// excused reports whether a firing may have been decided in time: the lease was checked before a stop of the worker, or
// before the handler's context ended. Such firings are counted.
func (h *History) excused(r *Report, f *fire) bool {
	if f.Over {
		r.over[f] = true
		return true
	}
	stop, ok := h.stopBefore(f)
	if !ok {
		return false
	}
	of := r.paused[stop]
	if of == nil {
		of = map[*fire]bool{}
		r.paused[stop] = of
	}
	of[f] = true
	if len(of) == mostAfterStop+1 {
		r.broke(manyAfter, "worker %d, stopped until %d: the last is %s", stop.Worker, stop.To, describe(f))
	}
	return true
}

// mostAfterStop is how many firings may be between the check of the lease and the handler when their worker is stopped.
const mostAfterStop = 4
