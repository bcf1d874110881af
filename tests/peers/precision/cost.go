package main

import (
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
)

// scenario is work that entrants do in turns.
type scenario struct {
	name     string
	turns    int
	turn     time.Duration
	entrants []entrant
}

// entrant works for about the given time. It returns the number of its wake-ups, or 0 if the number is not known.
type entrant struct {
	name string
	work func(turn time.Duration) (wakeups uint64, err error)
}

// cost is the cost of an entrant, with one figure per turn.
type cost struct {
	scenario, name string

	cpu     []time.Duration // CPU time per second
	wakeups []float64       // per second; 0 if they are not counted
}

const (
	crowdPerSecond = 10_000
	lowPerSecond   = 20
	finePrecision  = 100 * time.Microsecond
)

// costScenarios returns the scenarios in which CPU time is measured. A wheel with a Precision of
// 100 µs is compared with the least that such frequent wake-ups can cost: only the timerfd,
// the read and a goroutine that does nothing.
func costScenarios(o options) []scenario {
	zero := wheel(func() hierarchy.Config { return hierarchy.Config{} })
	fine := wheel(func() hierarchy.Config { return hierarchy.Config{Precision: finePrecision} })
	return []scenario{
		{"10,000 timers a second", o.crowdTurns, o.crowdTurn, []entrant{
			{"time.AfterFunc", crowdOf(openTime)},
			{"zero Config", crowdOf(zero)},
			{"Precision 100 µs", crowdOf(fine)},
			{"bare timerfd every 100 µs", func(turn time.Duration) (uint64, error) {
				return tickBare(turn, finePrecision)
			}},
		}},
		{"20 lone timers a second", o.lowTurns, o.lowTurn, []entrant{
			{"time.AfterFunc", chainOf(openTime)},
			{"zero Config", chainOf(zero)},
		}},
	}
}

func measureCosts(o options, progress io.Writer) ([]cost, error) {
	var costs []cost
	for _, s := range costScenarios(o) {
		fmt.Fprintf(progress, "CPU, %s\n", s.name)
		c, err := s.measure()
		if err != nil {
			return nil, err
		}
		costs = append(costs, c...)
	}
	return costs, nil
}

func (s scenario) measure() ([]cost, error) {
	costs := make([]cost, len(s.entrants))
	for range s.turns {
		for i, e := range s.entrants {
			c := &costs[i]
			c.scenario, c.name = s.name, e.name
			if err := c.measureTurn(e, s.turn); err != nil {
				return nil, fmt.Errorf("%s: %w", e.name, err)
			}
		}
	}
	return costs, nil
}

// measureTurn collects garbage first, so that no entrant pays for the garbage of another.
func (c *cost) measureTurn(e entrant, turn time.Duration) error {
	runtime.GC()
	before, err := cpuTime()
	if err != nil {
		return err
	}
	start := time.Now()
	wakeups, err := e.work(turn)
	if err != nil {
		return err
	}
	seconds := time.Since(start).Seconds()
	after, err := cpuTime()
	if err != nil {
		return err
	}
	c.cpu = append(c.cpu, time.Duration(float64(after-before)/seconds))
	c.wakeups = append(c.wakeups, float64(wakeups)/seconds)
	return nil
}
