package clock

import (
	"fmt"
	"sync"
	"time"
)

// Spinning is Precise with alarms that wake window before their time and spin
// until it has come, for those who pay CPU to be about a microsecond late: each
// wake-up keeps a processor busy for up to window. It spins at no other time. A
// window of some 150 µs covers the latency of most wake-ups; in one of 0 or
// less nothing spins.
func Spinning(window time.Duration) Clock {
	return &spinning{Clock: Precise(), window: max(0, window)}
}

type spinning struct {
	Clock
	window time.Duration
}

func (c *spinning) String() string { return fmt.Sprintf("%v, spinning for %v", c.Clock, c.window) }

func (c *spinning) NewAlarm(ring func()) Alarm {
	a := &spinningAlarm{clock: c, ring: ring}
	a.alarm = c.Clock.NewAlarm(a.approach)
	return a
}

// spinningAlarm aims the alarm below it window early. What it is aimed at itself
// may change while it spins.
type spinningAlarm struct {
	clock *spinning
	alarm Alarm
	ring  func()

	mu    sync.Mutex
	aimed bool // guarded by mu
	aim   time.Duration
}

func (a *spinningAlarm) Set(elapsed time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.aimed, a.aim = true, elapsed
	a.alarm.Set(max(0, elapsed) - a.clock.window)
}

func (a *spinningAlarm) Stop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.aimed = false
	a.alarm.Stop()
}

// approach is called window before the aim and calls ring when that has come.
func (a *spinningAlarm) approach() {
	if a.spin() {
		a.ring()
	}
}

// spin returns true when the aim has come. It returns false if it was taken
// away or is too far, and then the alarm below is aimed at it anew.
func (a *spinningAlarm) spin() bool {
	last, same := time.Duration(-1), 0
	for {
		now := a.clock.Elapsed()
		if now == last {
			same++
		} else {
			last, same = now, 0
		}
		if done, due := a.look(now, same > standing); done {
			return due
		}
	}
}

// standing is after how many equal readings a clock is taken to stand still: in
// a testing/synctest bubble time passes only while nobody runs.
const standing = 1000

// look tells whether to stop spinning, and if so whether to ring.
func (a *spinningAlarm) look(now time.Duration, still bool) (done, due bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case !a.aimed:
		return true, false
	case now >= a.aim:
		a.aimed = false
		return true, true
	case still:
		a.alarm.Set(a.aim)
		return true, false
	case now < a.aim-a.clock.window:
		return true, false // Set has aimed the alarm below
	}
	return false, false
}
