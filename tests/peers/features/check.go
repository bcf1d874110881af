package main

import (
	"fmt"
	"time"

	"github.com/epicycle-go/epicycle/tests/peers/contender"
)

// verdict is the result of a check.
type verdict string

const (
	kept       verdict = "yes"
	notKept    verdict = "no"
	notOffered verdict = "–"
)

// outcome is a verdict with its evidence, in one line.
type outcome struct {
	Verdict  verdict
	Evidence string
}

func keeps(evidence string, args ...any) outcome {
	return outcome{kept, fmt.Sprintf(evidence, args...)}
}

func fails(evidence string, args ...any) outcome {
	return outcome{notKept, fmt.Sprintf(evidence, args...)}
}

func lacks(evidence string) outcome { return outcome{notOffered, evidence} }

// check finds out whether a contender keeps a promise.
type check struct {
	name    string // name of the check's process
	promise string // text in tables
	try     func(s *subject) outcome
}

// checks are all checks, in the order of the tables.
var checks = []check{
	{"early-below", "never early: delays below an interval", (*subject).neverEarlyBelow},
	{"early-above", "never early: delays above an interval", (*subject).neverEarlyAbove},
	{"submillisecond", "a delay of 0.3 ms is not rounded", (*subject).submillisecond},
	{"once", "each timer either fires or is stopped", (*subject).exactlyOnce},
	{"reset", "a reset timer fires once, at its new time", (*subject).resets},
	{"stopped", "a stopped timer does not fire", (*subject).stopped},
	{"tells", "Stop reports whether the timer was pending", (*subject).stopTells},
	{"len", "reports how many timers are pending", (*subject).counts},
	{"ten-years", "accepts ten years, at the same cost", (*subject).tenYears},
	{"frees", "stopped timers are released", (*subject).frees},
	{"slow", "a slow callback delays no other timer", (*subject).slowNeighbour},
	{"calls", "callbacks may set, reset and stop timers", (*subject).callsInside},
	{"panic", "a panic affects no other timer", (*subject).panics},
	{"goexit", "runtime.Goexit affects no other timer", (*subject).goexits},
	{"drain", "drained timers can be set again", (*subject).drains},
	{"key", "a key that can't be compared is rejected", (*subject).unhashable},
	{"close", "closing it twice is safe", (*subject).closesTwice},
	{"closed", "after closing, nothing fires and setting returns", (*subject).setsWhenClosed},
}

// subject is the contender in the process of a check.
type subject struct {
	contender.Contender
	step string // the step that the check has begun, for the report of a check that hangs
}

// interval returns the contender's tick, but at least a millisecond. It returns a millisecond if the contender has no
// tick.
func (s *subject) interval() time.Duration { return max(s.Fine, time.Millisecond) }

// units returns the length of n units. A unit is an interval, or more if an interval is too short for a shared machine.
func (s *subject) units(n float64) time.Duration {
	return time.Duration(n * float64(max(s.Fine, 10*time.Millisecond)))
}

// slots is small, so that delays of more than a turn of the ring don't take long.
const slots = 10

func (s *subject) open(n int) contender.Timers {
	s.step = "opening it"
	t, err := s.Open(contender.Config{
		Timers: n, Kept: n, Interval: s.Fine, Slots: slots, Recover: true,
	})
	if err != nil {
		panic(err)
	}
	return t
}

// patience is the time that await waits in addition to the expected time.
const patience = 2 * time.Second

// await waits until done returns true, which should happen within the given units. await gives up when these units and
// patience have passed.
func (s *subject) await(units float64, done func() bool) bool {
	end := time.Now().Add(s.units(units+1) + patience)
	for ; time.Now().Before(end); time.Sleep(time.Millisecond) {
		if done() {
			return true
		}
	}
	return done()
}
