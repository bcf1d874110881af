package clockwork

import (
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/epicycle-go/epicycle/compat/adapters/internal/wheelclock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// New returns a clock whose timers and tickers are on w, and whose time is the time of w's clock. Clocks of the same
// wheel are interchangeable. A nil w panics.
func New(w *hierarchy.Wheel) clockwork.Clock {
	return wheelClock{wheelclock.New(w, "clockwork")}
}

// wheelClock has Now, Since, Until, Sleep and After from wheelclock.Clock.
type wheelClock struct{ wheelclock.Clock }

func (c wheelClock) NewTimer(d time.Duration) clockwork.Timer {
	return timer{c.Clock.NewTimer(d)}
}

func (c wheelClock) AfterFunc(d time.Duration, f func()) clockwork.Timer {
	return timer{c.Clock.AfterFunc(d, f)}
}

func (c wheelClock) NewTicker(d time.Duration) clockwork.Ticker {
	return ticker{c.Clock.NewTicker(d)}
}

// timer has Stop and Reset from wheelclock.Timer.
type timer struct{ wheelclock.Timer }

func (t timer) Chan() <-chan time.Time { return t.C }

// ticker has Stop and Reset from wheelclock.Ticker.
type ticker struct{ *wheelclock.Ticker }

func (t ticker) Chan() <-chan time.Time { return t.C }
