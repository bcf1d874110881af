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
	name    string // of the process
	promise string // in tables
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
	step string // the step it has begun, for the report of a check that hangs
}

// interval returns the contender's tick, or a millisecond if that is longer or it has none.
func (s *subject) interval() time.Duration { return max(s.Fine, time.Millisecond) }

// units returns n intervals, each long enough for a shared machine.
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

// patience is how much longer than expected await waits.
const patience = 2 * time.Second

// await waits until done returns true, which should happen within the given units. After
// that and some patience it gives up.
func (s *subject) await(units float64, done func() bool) bool {
	end := time.Now().Add(s.units(units+1) + patience)
	for ; time.Now().Before(end); time.Sleep(time.Millisecond) {
		if done() {
			return true
		}
	}
	return done()
}
