package k8s

import (
	"time"

	"k8s.io/utils/clock"

	"github.com/epicycle-go/epicycle/compat/adapters/internal/wheelclock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// New returns a clock whose timers and tickers are on w, and whose time is the time of w's clock. Clocks of the same
// wheel are interchangeable. A nil w panics.
func New(w *hierarchy.Wheel) clock.WithTickerAndDelayedExecution {
	return wheelClock{wheelclock.New(w, "k8s")}
}

// wheelClock has Now, Since, Sleep and After from wheelclock.Clock.
type wheelClock struct{ wheelclock.Clock }

func (c wheelClock) NewTimer(d time.Duration) clock.Timer {
	return timer{c.Clock.NewTimer(d)}
}

func (c wheelClock) AfterFunc(d time.Duration, f func()) clock.Timer {
	return timer{c.Clock.AfterFunc(d, f)}
}

func (c wheelClock) NewTicker(d time.Duration) clock.Ticker {
	return ticker{c.Clock.NewTicker(d)}
}

// Tick returns the channel of a ticker that can't be stopped, or nil if d <= 0, as time.Tick
// does.
func (c wheelClock) Tick(d time.Duration) <-chan time.Time {
	if d <= 0 {
		return nil
	}
	return c.Clock.NewTicker(d).C
}

// timer has Stop and Reset from wheelclock.Timer.
type timer struct{ t wheelclock.Timer }

func (t timer) C() <-chan time.Time        { return t.t.C }
func (t timer) Stop() bool                 { return t.t.Stop() }
func (t timer) Reset(d time.Duration) bool { return t.t.Reset(d) }

type ticker struct{ t *wheelclock.Ticker }

func (t ticker) C() <-chan time.Time { return t.t.C }
func (t ticker) Stop()               { t.t.Stop() }
