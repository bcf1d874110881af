package main

import (
	"slices"
	"time"
)

// judge compares the timers that were acknowledged with those that were passed to handlers. All systems have the same
// judge.
type judge struct {
	timers map[uint32]*history
	firsts int // timers that were acknowledged and have fired
	acked  int
	last   int64 // time of the last call of a handler
}

// history is what happened to a timer. A timer is scheduled once.
type history struct {
	acked, cancelled int64 // times; 0 if the timer was not acknowledged or cancelled
	due              int64
	fired            []int64
}

func newJudge() *judge { return &judge{timers: map[uint32]*history{}} }

func (j *judge) add(events []event) {
	for _, e := range events {
		h := j.timers[e.Key]
		if h == nil {
			h = &history{}
			j.timers[e.Key] = h
		}
		was := h.acked != 0 && len(h.fired) > 0
		switch e.Kind {
		case scheduled:
			h.acked, h.due = e.At, e.Due
			j.acked++
		case cancelled:
			h.cancelled = e.At
		case fired:
			h.fired = append(h.fired, e.At)
			j.last = max(j.last, e.At)
		}
		if !was && h.acked != 0 && len(h.fired) > 0 {
			j.firsts++
		}
	}
}

// verdict has the counts that the judge arrived at.
type verdict struct {
	Acked    int
	Lost     int // acknowledged, not cancelled, and never fired
	Twice    int // fired more than once
	Early    int // fired before they were due
	Earliest time.Duration
	Late     []time.Duration // lateness of each timer that was not early, in ascending order
	// Cancelled is the number of timers whose cancelling was acknowledged. Before counts the ones of these that had
	// fired before the answer, and After the ones that fired after it.
	Cancelled, Before, After int
}

func (j *judge) verdict() (v verdict) {
	for _, h := range j.timers {
		if h.acked != 0 {
			v.one(h)
		}
	}
	slices.Sort(v.Late)
	return v
}

// gap returns the longest time between two calls of handlers, up to the time until.
func (j *judge) gap(until time.Time) (most time.Duration) {
	var calls []int64
	for _, h := range j.timers {
		for _, at := range h.fired {
			calls = append(calls, min(at, until.UnixNano()))
		}
	}
	slices.Sort(calls)
	for i := 1; i < len(calls); i++ {
		most = max(most, time.Duration(calls[i]-calls[i-1]))
	}
	return most
}

// one counts a timer that was acknowledged. Other timers are not counted: they may be lost, and their due times are not
// known. Lateness counts from the due time or from the acknowledgement, whichever is later.
func (v *verdict) one(h *history) {
	v.Acked++
	if len(h.fired) > 1 {
		v.Twice++
	}
	if h.cancelled != 0 {
		v.Cancelled++
		switch {
		case len(h.fired) == 0:
		case slices.Max(h.fired) > h.cancelled:
			v.After++
		default:
			v.Before++
		}
		return
	}
	if len(h.fired) == 0 {
		v.Lost++
		return
	}
	first := slices.Min(h.fired)
	if early := time.Duration(h.due - first); early > 0 {
		v.Early++
		v.Earliest = max(v.Earliest, early)
		return
	}
	v.Late = append(v.Late, max(0, time.Duration(first-max(h.due, h.acked))))
}
