package main

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/hierarchy/view/terminal"
)

// burst makes a crowd of timers due at one instant, and sets and stops other timers while
// the crowd fires.
func (t *tour) burst() error {
	n := t.scale(250_000)
	t.Heading(fmt.Sprintf("4. %s timers due at one instant", terminal.Count(n)))
	t.Say(`The network fails, and all timeouts are due at once. Meanwhile the rest of the
		program keeps running: a goroutine sets and stops a timer, again and again. How long
		does the crowd delay its calls? The wheel and package time both start a goroutine for
		every timer that fires.`)
	t.Line("")
	w, err := hierarchy.New(hierarchy.Config{})
	if err != nil {
		return err
	}
	defer w.Stop()
	wheel, err := strike(n, w.AfterFunc, t.Progress("a burst on the wheel", n))
	if err != nil {
		return err
	}
	std, err := strike(n, byTime, t.Progress("a burst with time.AfterFunc", n))
	if err != nil {
		return err
	}
	t.compare(
		row{fmt.Sprintf("burst: all %s done after", terminal.Count(n)), terminal.Span(wheel.took), terminal.Span(std.took)},
		row{"burst: sets and stops meanwhile", terminal.Count(wheel.calls.n), terminal.Count(std.calls.n)},
		row{"burst: 99 % of them took at most", terminal.Span(wheel.calls.quantile(0.99)), terminal.Span(std.calls.quantile(0.99))},
		row{"burst: the longest of them took", terminal.Span(wheel.calls.longest), terminal.Span(std.calls.longest)},
	)
	t.Line("")
	t.Say(`These calls are made one after another. A call that waits for a second counts only
		once, although it kept very many others from being made. The number of calls and the
		longest call show such stalls.`)
	return nil
}

// stroke is the result of a burst.
type stroke struct {
	took  time.Duration // time from the instant until the last timer had run
	calls tally         // times that setting and stopping a timer took meanwhile
}

// strike measures a burst of n timers.
func strike[H handle](n int, after afterFunc[H], p *terminal.Progress) (*stroke, error) {
	defer p.End()
	const perTimer = time.Microsecond // more than setting a timer takes
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
	p.At(0)
	time.Sleep(time.Until(instant) - 5*time.Millisecond)
	s := new(stroke)
	for ran.Load() < int64(n) {
		if err := probe(s, after, instant); err != nil {
			return nil, err
		}
		p.At(int(ran.Load()))
	}
	for last.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	s.took = time.Duration(last.Load())
	return s, nil
}

// probe sets and stops a timer. It counts the time that these calls took, unless they returned before the burst.
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
