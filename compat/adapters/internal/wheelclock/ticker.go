package wheelclock

import (
	"errors"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
)

// Ticker is a ticker of a wheel.
type Ticker struct {
	C <-chan time.Time

	name  string
	stop  func() bool
	reset func(time.Duration) bool
}

// NewTicker makes a ticker that sends the time on C every period. It panics if period <= 0.
func (c Clock) NewTicker(period time.Duration) *Ticker {
	if period <= 0 {
		panic(c.name + ": non-positive interval for NewTicker")
	}
	t, err := c.wheel.NewTicker(period)
	switch {
	case err == nil:
		return &Ticker{t.C, c.name, t.Stop, t.Reset}
	case errors.Is(err, hierarchy.ErrFull):
		e := c.newExtra(true)
		e.Reset(period)
		return &Ticker{e.c, c.name, e.Stop, e.Reset}
	}
	return &Ticker{make(chan time.Time), c.name, func() bool { return false }, never{}.Reset}
}

// Stop ends the ticks. It does not close C.
func (t *Ticker) Stop() { t.stop() }

// Reset makes the ticker tick every period from now on, even if it was stopped. It panics if period <= 0.
func (t *Ticker) Reset(period time.Duration) {
	if period <= 0 {
		panic(t.name + ": non-positive interval for Ticker.Reset")
	}
	t.reset(period)
}
