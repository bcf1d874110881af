// Package handclock is a clock for tests of wheels: a test moves it, rings its alarm, and checks the time at which the
// alarm is aimed.
package handclock

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/clock"
)

// Clock is a clock whose first alarm, that of a wheel, never rings by itself. Its other alarms do nothing.
type Clock struct {
	Time atomic.Int64 // elapsed, in nanoseconds
	Tick int64        // time by which each reading moves the clock
	Ring func()
	// Review makes the wheel check whether it still needs the alarm.
	Review func()
	// HasThen gives the alarm the method Then, which sets Left: the test calls that after Ring.
	HasThen bool
	Left    func()
	// HasCoarse gives the alarm the method SetCoarse.
	HasCoarse bool
	// OnSet is nil, or called when the alarm is aimed.
	OnSet func()

	readings atomic.Int64

	mu     sync.Mutex
	aimed  bool // guarded by mu, like those below
	aim    int64
	coarse bool // whether it is aimed by SetCoarse
}

// mostReadings is the most readings of a clock, which is more than any test needs.
const mostReadings = 20_000_000

func (c *Clock) Now() time.Time { return time.Unix(0, c.Time.Load()) }

// Elapsed panics if a wheel reads the clock without end, since it may wait for time to pass.
func (c *Clock) Elapsed() time.Duration {
	if c.readings.Add(1) > mostReadings {
		panic("handclock: read without end")
	}
	return time.Duration(c.Time.Add(c.Tick))
}

func (c *Clock) NewAlarm(ring func()) clock.Alarm {
	if c.Ring != nil {
		return noAlarm{}
	}
	c.Ring = ring
	switch {
	case c.HasThen:
		return thenAlarm{alarm{c}}
	case c.HasCoarse:
		return coarseAlarm{alarm{c}}
	}
	return alarm{c}
}

// A noAlarm never rings.
type noAlarm struct{}

func (noAlarm) Set(time.Duration) {}
func (noAlarm) Stop()             {}

// Aimed reports whether the alarm is aimed.
func (c *Clock) Aimed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.aimed
}

// AimedAt returns the time at which the alarm is aimed, or 0.
func (c *Clock) AimedAt() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.aim
}

// Coarse reports whether the alarm is aimed by SetCoarse.
func (c *Clock) Coarse() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.coarse
}

// RequireAim requires that the alarm is aimed at latest or earlier.
func (c *Clock) RequireAim(t *testing.T, latest int64) {
	t.Helper()
	if at, aimed := c.AimedAt(), c.Aimed(); !aimed || at > latest {
		t.Fatalf("aimed too late: aimed: %v, at %d, want %d at the latest; now %d", aimed, at, latest, c.Time.Load())
	}
}

// Disarm stops the alarm, as if it had rung.
func (c *Clock) Disarm() { c.note(false, 0, false) }

func (c *Clock) note(aimed bool, aim int64, coarse bool) {
	c.mu.Lock()
	c.aimed, c.aim, c.coarse = aimed, aim, coarse
	c.mu.Unlock()
}

type alarm struct{ *Clock }

func (a alarm) Stop() { a.Disarm() }

func (a alarm) Set(elapsed time.Duration) {
	a.note(true, int64(elapsed), false)
	if a.OnSet != nil {
		a.OnSet()
	}
}

func (a alarm) Review(f func()) { a.Clock.Review = f }

// thenAlarm is an alarm with the method Then.
type thenAlarm struct{ alarm }

func (a thenAlarm) Then(f func()) { a.Left = f }

// coarseAlarm is an alarm with the method SetCoarse.
type coarseAlarm struct{ alarm }

func (a coarseAlarm) SetCoarse(elapsed time.Duration) { a.note(true, int64(elapsed), true) }
