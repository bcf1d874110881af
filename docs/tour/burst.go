package main

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
)

// burst has a crowd of timers fall due at one instant, and meanwhile sets and stops
// others.
func (t *tour) burst() error {
	n := t.scale(250_000)
	t.heading(fmt.Sprintf("4. %s timers due at one instant", count(n)))
	t.say(`A network breaks, and all timeouts come at once. Meanwhile the rest of the program
		goes on: a goroutine sets a timer and stops it, again and again. How long does it
		wait for the crowd? Every timer that fires gets a goroutine of its own, with either.`)
	t.line("")
	w, err := hierarchy.New(hierarchy.Config{})
	if err != nil {
		return err
	}
	defer w.Stop()
	wheel, err := strike(n, w.AfterFunc, t.progress("a burst on the wheel", n))
	if err != nil {
		return err
	}
	std, err := strike(n, byTime, t.progress("a burst with time.AfterFunc", n))
	if err != nil {
		return err
	}
	t.compare(
		row{fmt.Sprintf("burst: all %s have run after", count(n)), span(wheel.took), span(std.took)},
		row{"burst: others set and stopped meanwhile", count(wheel.calls.n), count(std.calls.n)},
		row{"burst: 99 % of these took at most", span(wheel.calls.quantile(0.99)), span(std.calls.quantile(0.99))},
		row{"burst: the longest of these took", span(wheel.calls.longest), span(std.calls.longest)},
	)
	t.line("")
	t.say(`Calls are made one after the other, so one that waits for a second counts once,
		though it kept very many others from being made. So look at how many got through,
		and at the longest.`)
	return nil
}

// stroke is what came of a burst.
type stroke struct {
	took  time.Duration // from the instant until the last timer had run
	calls tally         // how long it took meanwhile to set a timer and stop it
}

// strike lets a burst happen.
func strike[H handle](n int, after afterFunc[H], p *progress) (*stroke, error) {
	defer p.end()
	const perTimer = time.Microsecond // more than setting one takes
	instant := time.Now().Add(100*time.Millisecond + time.Duration(n)*perTimer)
	var ran, last atomic.Int64
	fire := func() {
		if ran.Add(1) == int64(n) {
			last.Store(int64(time.Since(instant)))
		}
	}
	for range n {
		if _, err := after(time.Until(instant), fire); err != nil {
			return nil, err
		}
	}
	p.at(0)
	time.Sleep(time.Until(instant) - 5*time.Millisecond)
	s := new(stroke)
	for ran.Load() < int64(n) {
		if err := probe(s, after, instant); err != nil {
			return nil, err
		}
		p.at(int(ran.Load()))
	}
	for last.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	s.took = time.Duration(last.Load())
	return s, nil
}

// probe sets a timer and stops it, and counts how long that took, if it was not over
// before the burst.
func probe[H handle](s *stroke, after afterFunc[H], instant time.Time) error {
	start := time.Now()
	h, err := after(time.Hour, func() {})
	if err != nil {
		return err
	}
	h.Stop()
	if end := time.Now(); end.After(instant) {
		s.calls.add(end.Sub(start))
	}
	return nil
}
