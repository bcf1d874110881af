package clock

import (
	"math"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/clock/internal/serial"
)

// timerAlarm is an alarm that rings by a timer, such as one of time.AfterFunc.
type timerAlarm struct {
	elapsed   func() time.Duration // returns the time in which the timer counts
	afterFunc func(d time.Duration, f func()) resettable
	call      serial.Call
	mu        sync.Mutex
	timer     resettable // guarded by mu; made by the first Set
}

// resettable is a *time.Timer, or a *Timer of package benbjohnson.
type resettable interface {
	Reset(d time.Duration) bool
	Stop() bool
}

func (a *timerAlarm) Set(elapsed time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	d := max(0, elapsed) - a.elapsed()
	if d < 0 && a.elapsed() < 0 {
		d = math.MaxInt64 // the clock was set back, and the difference overflowed
	}
	if a.timer == nil {
		a.timer = a.afterFunc(d, a.call.Run)
	} else {
		a.timer.Reset(d)
	}
}

func (a *timerAlarm) Stop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.timer != nil {
		a.timer.Stop()
	}
}

// Then makes the goroutine of the ring call f after the ring.
func (a *timerAlarm) Then(f func()) { a.call.Then(f) }
