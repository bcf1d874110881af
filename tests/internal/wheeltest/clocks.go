package wheeltest

import (
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// LateClock rings when the test calls Ring, however late that is.
type LateClock struct {
	Time time.Duration // the test sets it
	Ring func()
}

func (c *LateClock) Now() time.Time                   { return time.Unix(0, int64(c.Time)) }
func (c *LateClock) Elapsed() time.Duration           { return c.Time }
func (c *LateClock) NewAlarm(ring func()) clock.Alarm { c.Ring = ring; return c }
func (*LateClock) Set(time.Duration)                  {}
func (*LateClock) Stop()                              {}

// LaggingClock rings late by Lag, and every second time by Jitter more, as real clocks
// do. Tests move it.
type LaggingClock struct {
	Lag     time.Duration
	Jitter  time.Duration
	odd     bool
	elapsed time.Duration
	aimed   bool
	aim     time.Duration
	ring    func()
}

func (c *LaggingClock) Now() time.Time         { return time.Unix(0, int64(c.elapsed)) }
func (c *LaggingClock) Elapsed() time.Duration { return c.elapsed }
func (c *LaggingClock) Set(at time.Duration)   { c.aimed, c.aim = true, at }
func (c *LaggingClock) Stop()                  { c.aimed = false }

// NewAlarm returns the clock itself for a wheel, and then alarms that do nothing.
func (c *LaggingClock) NewAlarm(ring func()) clock.Alarm {
	if c.ring != nil {
		return &LaggingClock{}
	}
	c.ring = ring
	return c
}

// RunTo moves the clock to end and rings the alarm on the way.
func (c *LaggingClock) RunTo(end time.Duration) {
	for c.aimed && c.ringsAt() <= end {
		c.elapsed = max(c.elapsed, c.ringsAt())
		c.aimed, c.odd = false, !c.odd
		c.ring()
	}
	c.elapsed = end
}

func (c *LaggingClock) ringsAt() time.Duration {
	if c.odd {
		return c.aim + c.Lag + c.Jitter
	}
	return c.aim + c.Lag
}

// Lag is that of OnLaggingClock.
const Lag = 20 * time.Microsecond

// OnLaggingClock returns a wheel with a Precision that was asked for, which gathers all timers, or with the default
// of a millisecond, which gathers crowds only, if precision is 0.
func OnLaggingClock(t *testing.T, precision time.Duration) (*hierarchy.Wheel, *LaggingClock) {
	c := &LaggingClock{Lag: Lag}
	return New(t, hierarchy.Config{Clock: c, Executor: hierarchy.Inline, Precision: precision}), c
}
