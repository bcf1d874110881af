package clock

import (
	"sync"
	"time"
)

// System is the runtime's clock: its alarms are runtime timers, whose wake-ups
// are up to a millisecond late on an idle Linux machine. It holds no goroutine
// while it waits, and is right inside testing/synctest bubbles.
func System() Clock { return &system{start: time.Now()} }

type system struct{ start time.Time } // immutable; with a monotonic reading

func (*system) String() string           { return "system" }
func (*system) Now() time.Time           { return time.Now() }
func (s *system) Elapsed() time.Duration { return time.Since(s.start) }

func (s *system) NewAlarm(ring func()) Alarm {
	return &systemAlarm{clock: s, ringer: ringer{ring: ring}}
}

type systemAlarm struct {
	clock  *system
	ringer ringer
	mu     sync.Mutex
	timer  *time.Timer // guarded by mu; made by the first Set
}

func (a *systemAlarm) Set(elapsed time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	d := max(0, elapsed) - a.clock.Elapsed()
	if a.timer == nil {
		a.timer = time.AfterFunc(d, a.ringer.fire)
	} else {
		a.timer.Reset(d)
	}
}

func (a *systemAlarm) Stop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.timer != nil {
		a.timer.Stop()
	}
}
