package main

import (
	"context"
	"slices"
	"time"

	"golang.org/x/time/rate"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/tests/peers/internal/figures"
)

// pacingProgram does something at even intervals. Whatever is due when it wakes up is done at once, so that the rate is
// kept.
func pacingProgram() program {
	return program{
		name:  "pacing",
		what:  "%s events a second, evenly",
		unit:  "event",
		late:  "how late events are",
		full:  size{N: 20_000, Lifetime: 2 * time.Second},
		quick: size{N: 2000, Lifetime: 200 * time.Millisecond},
		work:  func(s size) int { return s.events() },
		ways: []way{
			{"time.Ticker", false, runPacing(pacedByTicker)},
			{"x/time/rate, Wait", false, runPacing(pacedByLimiter)},
			{"Wheel.Every", true, runPacing(pacedBy(clock.Precise()))},
			{"Wheel.Every, Spinning", true, runPacing(pacedBy(clock.Spinning(spin)))},
			{"Wheel.Every, 1 ms", true, runPacing(pacedInBursts)},
		},
	}
}

// spin is the window of a spinning clock.
const spin = 150 * time.Microsecond

func (s size) interval() time.Duration { return time.Second / time.Duration(s.N) }

func (s size) events() int { return int(s.Lifetime / s.interval()) }

// pacer does what is due. The events of a size are due at whole multiples of its interval.
type pacer struct {
	size
	start time.Time
	late  []time.Duration
}

// emit does all that is due, and reports whether anything is left.
func (p *pacer) emit() bool {
	now := time.Since(p.start)
	for len(p.late) < p.events() {
		due := time.Duration(len(p.late)+1) * p.interval()
		if due > now {
			return true
		}
		p.late = append(p.late, now-due)
	}
	return false
}

func runPacing(pace func(context.Context, *pacer) error) func(context.Context, size) (result, error) {
	return func(ctx context.Context, size size) (f result, err error) {
		p := &pacer{size: size, late: make([]time.Duration, 0, size.events()), start: time.Now()}
		m := newMeter()
		err = pace(ctx, p)
		m.stop(&f, len(p.late))
		if f.N = size.N; err != nil {
			return f, err
		}
		slices.Sort(p.late)
		f.Late = figures.Quantile(p.late, 0.99)
		return f, nil
	}
}

func pacedByTicker(_ context.Context, p *pacer) error {
	t := time.NewTicker(p.interval())
	defer t.Stop()
	for range t.C {
		if !p.emit() {
			break
		}
	}
	return nil
}

// pacedByLimiter asks for one event after the other. It begins without the burst that is allowed after a pause.
func pacedByLimiter(ctx context.Context, p *pacer) error {
	burst := p.N / 100
	l := rate.NewLimiter(rate.Limit(p.N), burst)
	l.AllowN(p.start, burst)
	for i := range p.events() {
		if err := l.Wait(ctx); err != nil {
			return err
		}
		due := time.Duration(i+1) * p.interval()
		p.late = append(p.late, max(0, time.Since(p.start)-due)) // tokens are fractions, which are rounded
	}
	return nil
}

func pacedBy(c clock.Clock) func(context.Context, *pacer) error {
	return func(_ context.Context, p *pacer) error {
		cfg := hierarchy.Config{Clock: c, Precision: p.interval(), Executor: hierarchy.Inline}
		return every(cfg, p.interval(), p.emit)
	}
}

// pacedInBursts wakes a thousand times a second at most, whatever the interval.
func pacedInBursts(_ context.Context, p *pacer) error {
	return every(hierarchy.Config{Executor: hierarchy.Inline}, max(p.interval(), time.Millisecond), p.emit)
}
