package main

import (
	"context"
	"slices"
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/tests/peers/internal/figures"
)

// gameProgram is a loop with a fixed number of ticks a second, in a process that does nothing else.
func gameProgram() program {
	return program{
		name:  "game",
		what:  "game loop, %s ticks a second",
		unit:  "tick",
		late:  "how late ticks are",
		full:  size{N: 240, Lifetime: 2500 * time.Millisecond},
		quick: size{N: 100, Lifetime: 200 * time.Millisecond},
		ways: []way{
			{"time.Ticker", false, runGame(tickByTime)},
			{"Wheel.NewTicker", true, runGame(tickByWheel(clock.Precise()))},
			{"Wheel.Every, Inline", true, runGame(tickByEvery(clock.Precise()))},
			{"Wheel.Every, Inline, Spinning", true, runGame(tickByEvery(clock.Spinning(spin)))},
		},
	}
}

// loop notes how late ticks are that are due at whole multiples of an interval. A tick that is late by more than that
// counts as missed.
type loop struct {
	size
	start time.Time
	late  []time.Duration
}

// tick reports whether the loop goes on.
func (l *loop) tick() bool {
	now := time.Since(l.start)
	l.late = append(l.late, now%l.interval())
	return now < l.Lifetime
}

func runGame(play func(*loop) error) func(context.Context, size) (result, error) {
	return func(_ context.Context, size size) (f result, err error) {
		l := &loop{size: size, late: make([]time.Duration, 0, 2*size.events()), start: time.Now()}
		m := newMeter()
		err = play(l)
		m.stop(&f, len(l.late))
		if f.N = size.N; err != nil {
			return f, err
		}
		if len(l.late) > size.events()+1 {
			return f, errEarly
		}
		slices.Sort(l.late)
		f.Late = figures.Quantile(l.late, 0.99)
		return f, nil
	}
}

func tickByTime(l *loop) error {
	t := time.NewTicker(l.interval())
	defer t.Stop()
	for range t.C {
		if !l.tick() {
			break
		}
	}
	return nil
}

func tickByWheel(c clock.Clock) func(*loop) error {
	return func(l *loop) error {
		w, err := hierarchy.New(hierarchy.Config{Clock: c})
		if err != nil {
			return err
		}
		defer w.Stop()
		t, err := w.NewTicker(l.interval())
		if err != nil {
			return err
		}
		for range t.C {
			if !l.tick() {
				break
			}
		}
		return nil
	}
}

func tickByEvery(c clock.Clock) func(*loop) error {
	return func(l *loop) error {
		return every(hierarchy.Config{Clock: c, Executor: hierarchy.Inline}, l.interval(), l.tick)
	}
}

// every calls f at even intervals until f returns false.
func every(cfg hierarchy.Config, interval time.Duration, f func() bool) error {
	w, err := hierarchy.New(cfg)
	if err != nil {
		return err
	}
	defer w.Stop()
	done, ended := make(chan struct{}), false
	_, err = w.Every(interval, func() {
		if !ended && !f() {
			ended = true
			close(done)
		}
	})
	if err == nil {
		<-done
	}
	return err
}
