package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"time"
)

// panel holds the measurements under one load.
type panel struct {
	load   string
	curves []curve
}

// curve holds the lateness of each of one contender's timers, in ascending order.
type curve struct {
	name string
	late []time.Duration
}

func measurePanels(o options, progress io.Writer) ([]panel, error) {
	var panels []panel
	for _, l := range loads {
		fmt.Fprintf(progress, "lateness, %s\n", l.name)
		p, err := measurePanel(l, o.timers, o.rounds)
		if err != nil {
			return nil, err
		}
		panels = append(panels, p)
	}
	return panels, nil
}

// measurePanel measures the contenders in turns. In one round, all contenders get the same delays.
func measurePanel(l load, timers, rounds int) (panel, error) {
	defer l.start()()
	p := panel{load: l.name}
	for _, c := range lateContenders {
		p.curves = append(p.curves, curve{name: c.name})
	}
	for round := range rounds {
		delays := someDelays(uint64(round), share(timers, rounds, round))
		for i, c := range lateContenders {
			late, err := measureTurn(c, delays)
			if err != nil {
				return p, fmt.Errorf("%s: %w", c.name, err)
			}
			p.curves[i].late = append(p.curves[i].late, late...)
		}
	}
	for _, c := range p.curves {
		slices.Sort(c.late)
	}
	return p, nil
}

// measureTurn opens a contender and measures its timers. It first runs one timer that does not count, so that the
// wheel's clock has its resources of the kernel.
func measureTurn(c contender, delays []time.Duration) ([]time.Duration, error) {
	o, err := c.open()
	if err != nil {
		return nil, err
	}
	defer o.close()
	if _, err := lateness(o, time.Millisecond/2); err != nil {
		return nil, err
	}
	var late []time.Duration
	for _, d := range delays {
		l, err := lateness(o, d)
		if err != nil {
			return nil, err
		}
		late = append(late, l)
	}
	return late, nil
}

// lateness returns the lateness of one lone timer. An early timer is an error.
func lateness(o *opened, d time.Duration) (time.Duration, error) {
	fired := make(chan time.Duration, 1)
	deadline := time.Now().Add(d)
	if err := o.after(d, func() { fired <- time.Since(deadline) }); err != nil {
		return 0, err
	}
	late := <-fired
	if late < 0 {
		return 0, fmt.Errorf("a timer of %v came %v early", d, -late)
	}
	return late, nil
}

const (
	shortestDelay = 100 * time.Microsecond
	longestDelay  = 5 * time.Millisecond
)

// someDelays returns random delays, the same for the same seed. None is a whole number of
// milliseconds: an idle runtime sleeps for whole milliseconds, and would look exact.
func someDelays(seed uint64, n int) []time.Duration {
	random := rand.New(rand.NewPCG(seed, 0))
	delays := make([]time.Duration, 0, n)
	for len(delays) < n {
		d := shortestDelay + time.Duration(random.Int64N(int64(longestDelay-shortestDelay)))
		if d%time.Millisecond != 0 {
			delays = append(delays, d)
		}
	}
	return delays
}

// share returns the size of the i-th part if n is divided into parts as evenly as possible.
func share(n, parts, i int) int { return n*(i+1)/parts - n*i/parts }
