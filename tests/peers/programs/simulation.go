package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// simulationProgram simulates machines that work for random times. Each has a timeout, which is removed and set again
// whenever it does something.
func simulationProgram() program {
	return program{
		name:  "simulation",
		what:  "discrete-event simulation of %s machines",
		unit:  "event, with the timeout that it sets anew",
		each:  "machine with its two timers",
		full:  size{N: 100_000, Rounds: 20},
		quick: size{N: 1000, Rounds: 5},
		work:  func(s size) int { return s.N * s.Rounds },
		ways: []way{
			{"container/heap", false, runSimulation(newHeapAgenda)},
			{"Driven", true, runSimulation(newDrivenAgenda)},
			{"Of on clock.Mock", true, runSimulation(newMockAgenda)},
		},
	}
}

// event is what happens to a machine.
type event struct {
	machine int32
	timeout bool
}

// agenda has the events that are to come. A machine has at most one of each kind.
type agenda interface {
	set(e event, due time.Duration)
	remove(e event)
	// run calls handle for each event, in order of time and then of setting, until it returns false.
	run(handle func(e event, now time.Duration) bool)
}

// machines is what is simulated. Two agendas agree if their sums are equal.
type machines struct {
	agenda
	random   []rand.PCG
	timeouts int
	left     int
	sum      uint64
}

const (
	meanWork    = time.Second
	workTimeout = 3 * time.Second
)

func runSimulation(of func(n int) agenda) func(context.Context, size) (result, error) {
	return func(_ context.Context, size size) (f result, err error) {
		m := &machines{random: make([]rand.PCG, size.N), left: size.N * size.Rounds}
		before := liveBytes()
		m.agenda = of(size.N)
		for i := range m.random {
			m.random[i].Seed(uint64(i), 1)
			m.work(int32(i), 0)
		}
		f.each(size.N, before)
		meter := newMeter()
		m.run(m.handle)
		meter.stop(&f, size.N*size.Rounds-m.left)
		f.Sum = m.sum
		if m.timeouts == 0 {
			err = errNoTimeouts
		}
		return f, err
	}
}

var errNoTimeouts = errors.New("no machine took too long, which is unlikely")

// work makes a machine work for a random time.
func (m *machines) work(machine int32, now time.Duration) {
	d := time.Duration(rand.New(&m.random[machine]).ExpFloat64() * float64(meanWork))
	m.set(event{machine, false}, now+d)
	m.set(event{machine, true}, now+workTimeout)
}

// handle starts a machine again whose work is done or took too long.
func (m *machines) handle(e event, now time.Duration) bool {
	m.sum = (m.sum ^ uint64(now) ^ uint64(e.machine)) * 1_099_511_628_211 // as FNV does
	if e.timeout {
		m.timeouts++
	}
	m.remove(event{e.machine, !e.timeout})
	m.work(e.machine, now)
	m.left--
	return m.left > 0
}
