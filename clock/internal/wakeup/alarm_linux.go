package wakeup

import (
	"math"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/clock/internal/serial"
)

const (
	// near is the longest time ahead to which an alarm can be set and be near at once. Near alarms hold the timerfd open,
	// so alarms that are further ahead become near only handOver before their time. Tests often look for resources that
	// are left, and wait for some tenths of a second at most.
	near = 120 * time.Millisecond
	// handOver is the time before its ring at which a far alarm becomes near. The runtime's timer may be late by up to
	// handOver without making the alarm late.
	handOver = 100 * time.Millisecond
)

// Alarm rings once, at or after the time that it was last set to. Rings never overlap.
type Alarm struct {
	waker  *Waker
	offset time.Duration // time from epoch to the start from which the times of Set count
	call   serial.Call
	review func() // immutable once the alarm was set; nil if there is none

	mu     sync.Mutex
	timer  *time.Timer   // guarded by mu, as all below; made by the first Set
	at     time.Duration // time to ring, since epoch
	set    uint64        // number of calls of Set and Stop
	coarse bool          // whether the process need not be woken
	far    bool          // whether the timer is set to the time at which the alarm becomes near
	watch  watch
}

// NewAlarm returns an alarm that calls ring. The times passed to Set count from start.
func (w *Waker) NewAlarm(start time.Time, ring func()) *Alarm {
	return &Alarm{waker: w, offset: start.Sub(epoch), call: serial.Call{F: ring}}
}

// Review registers f to be called some time before a far alarm rings. If f stops the alarm or sets it to a later time,
// nothing is prepared for that ring. f must not wait for anything but locks. Review must be called before Set.
func (a *Alarm) Review(f func()) { a.review = f }

// Then makes the goroutine of a ring call f after it. See clock.Alarm.
func (a *Alarm) Then(f func()) { a.call.Then(f) }

// Set sets the alarm to ring at the time elapsed. If that time has passed, the alarm rings at once, but in another
// goroutine.
func (a *Alarm) Set(elapsed time.Duration) { a.aim(elapsed, false) }

// SetCoarse is Set for a ring that may be as late as a timer of package time, which spares a wake-up.
func (a *Alarm) SetCoarse(elapsed time.Duration) { a.aim(elapsed, true) }

// aim sets the alarm.
func (a *Alarm) aim(elapsed time.Duration, coarse bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.set++
	a.coarse = coarse
	a.at = later(a.offset, max(0, elapsed))
	now := sinceEpoch()
	a.far = a.at-now > near && !coarse
	a.start(now)
}

// start sets the timer, and has the waker watch the alarm if it is near. The timer comes first: if the process were woken
// before there is a timer, it would go to sleep again. mu must be held.
func (a *Alarm) start(now time.Duration) {
	d := a.at - now
	if a.far {
		d -= handOver
	}
	if a.timer == nil {
		a.timer = time.AfterFunc(d, a.fire)
	} else {
		a.timer.Reset(d)
	}
	if a.far || a.coarse || d <= 0 {
		a.waker.forget(&a.watch)
	} else {
		a.waker.add(&a.watch, a.at)
	}
}

// Stop stops the alarm. It does not wait for a ring in progress.
func (a *Alarm) Stop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.set++
	a.far = false
	if a.timer != nil {
		a.timer.Stop()
	}
	a.waker.forget(&a.watch)
}

// fire is called by the timer.
func (a *Alarm) fire() {
	a.mu.Lock()
	now := sinceEpoch()
	due, nears, set := now >= a.at, a.far && now >= a.at-handOver, a.set
	if due {
		a.far = false
		a.waker.forget(&a.watch)
	}
	a.mu.Unlock()
	switch {
	case due:
		a.call.Run()
	case nears:
		a.becomeNear(set)
	default: // the timer was set anew, or stopped, while it fired
	}
}

// becomeNear asks the owner of a far alarm whether it still needs the ring, and makes the alarm near if it does. set is
// the number of calls of Set and Stop until then.
func (a *Alarm) becomeNear(set uint64) {
	if a.review != nil {
		a.review()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.set == set {
		a.far = false
		a.start(sinceEpoch())
	}
}

// later returns t + d, or the largest duration if that overflows.
func later(t, d time.Duration) time.Duration {
	if t+d < t {
		return math.MaxInt64
	}
	return t + d
}
