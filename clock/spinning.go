package clock

import (
	"fmt"
	"sync"
	"time"
)

// Spinning is like Precise, but its alarms wake window before their time and spin until that time has come. They are
// about a microsecond late, and each wake-up keeps a processor busy for up to window. The clock spins at no other time.
// A window of some 150 µs covers the latency of most wake-ups. With a window of 0 or less the clock does not spin.
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

// spinningAlarm aims an alarm of the Precise clock window before its own aim. The aim may change while the
// spinningAlarm spins.
type spinningAlarm struct {
	clock *spinning
	alarm Alarm // an alarm of the Precise clock
	ring  func()

	mu    sync.Mutex
	aimed bool          // guarded by mu
	aim   time.Duration // guarded by mu
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

// Review registers f to be called some time before a far alarm rings, if the alarm of the Precise clock supports
// that. See the Alarm of package wakeup.
func (a *spinningAlarm) Review(f func()) {
	if inner, ok := a.alarm.(Reviewer); ok {
		inner.Review(f)
	}
}

// Then makes the goroutine of a ring call f after it, which is after the ring of the alarm of the Precise clock.
func (a *spinningAlarm) Then(f func()) { a.alarm.(Continuer).Then(f) }

// approach is called window before the aim, and calls ring when the aim has come.
func (a *spinningAlarm) approach() {
	if a.spin() {
		a.ring()
	}
}

// spin returns true when the aim has come. It returns false if the alarm was stopped, if
// the aim is more than window away, or if the clock stands still. In the last two cases
// the alarm of the Precise clock has been aimed again.
func (a *spinningAlarm) spin() bool {
	last, same := time.Duration(-1), 0
	for {
		now := a.clock.Elapsed()
		if now == last {
			same++
		} else {
			last, same = now, 0
		}
		if done, due := a.poll(now, same > maxEqualReadings); done {
			return due
		}
	}
}

// maxEqualReadings is the number of equal readings up to which a clock counts as moving. In
// a testing/synctest bubble time stands still while a goroutine runs.
const maxEqualReadings = 1000

// poll reports in done whether to stop spinning, and in due whether to ring then.
func (a *spinningAlarm) poll(now time.Duration, still bool) (done, due bool) {
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
		return true, false // Set has aimed a.alarm again
	}
	return false, false
}
