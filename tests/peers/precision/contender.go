package main

import (
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// contender is an implementation of timers that is compared with others.
type contender struct {
	name string
	open func() (*opened, error)
}

// opened is a contender at work.
type opened struct {
	after   func(d time.Duration, f func()) error
	wakeups func() uint64 // returns the number of wake-ups; nil if they are not counted
	close   func()
}

// spinWindow is the window that the documentation of clock.Spinning proposes.
const spinWindow = 150 * time.Microsecond

// lateContenders are the contenders whose lateness is drawn. Their Precision is too small to
// matter, since each timer is alone.
var lateContenders = []contender{
	{"time.AfterFunc", openTime},
	{"System, Go", wheel(func() hierarchy.Config {
		return hierarchy.Config{Precision: time.Microsecond, Clock: clock.System()}
	})},
	{"Precise, Go", wheel(func() hierarchy.Config {
		return hierarchy.Config{Precision: time.Microsecond}
	})},
	{"Precise, Inline", wheel(func() hierarchy.Config {
		return hierarchy.Config{Precision: time.Microsecond, Executor: hierarchy.Inline}
	})},
	{"Spinning(150 µs), Inline", wheel(func() hierarchy.Config {
		return hierarchy.Config{
			Precision: time.Microsecond, Clock: clock.Spinning(spinWindow), Executor: hierarchy.Inline,
		}
	})},
}

func openTime() (*opened, error) {
	return &opened{
		after: func(d time.Duration, f func()) error {
			time.AfterFunc(d, f)
			return nil
		},
		close: func() {},
	}, nil
}

// wheel opens a wheel. The configuration, with its clock, is made only when the wheel is opened.
func wheel(config func() hierarchy.Config) func() (*opened, error) {
	return func() (*opened, error) {
		w, err := hierarchy.New(config())
		if err != nil {
			return nil, err
		}
		return &opened{
			after: func(d time.Duration, f func()) error {
				_, err := w.AfterFunc(d, f)
				return err
			},
			wakeups: func() uint64 { return w.Stats().Wakeups },
			close:   w.Stop,
		}, nil
	}
}
