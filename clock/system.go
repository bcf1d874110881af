package clock

import (
	"time"

	"github.com/epicycle-go/epicycle/clock/internal/serial"
)

// System returns a clock whose alarms are runtime timers. Their wake-ups are up to
// a millisecond late on an idle Linux machine. The clock uses no goroutine while it
// waits, and works in testing/synctest bubbles.
func System() Clock { return &system{start: time.Now()} }

type system struct{ start time.Time } // immutable; with a monotonic reading

func (*system) String() string           { return "system" }
func (*system) Now() time.Time           { return time.Now() }
func (s *system) Elapsed() time.Duration { return time.Since(s.start) }

// Reading returns Now and Elapsed at one instant, from one reading of the clock.
func (s *system) Reading() (now time.Time, elapsed time.Duration) {
	now = time.Now()
	return now, now.Sub(s.start)
}

func (s *system) NewAlarm(ring func()) Alarm {
	return &timerAlarm{elapsed: s.Elapsed, afterFunc: systemTimer, call: serial.Call{F: ring}}
}

func systemTimer(d time.Duration, f func()) resettable { return time.AfterFunc(d, f) }
