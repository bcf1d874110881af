package clock

import "time"

// backup is a runtime timer that stands in for the timerfd: while there is none,
// and while the process is strained, since the scheduler looks at its timers at
// every switch and at its descriptors when it has nothing else to do. At other
// times it is left alone: setting it wakes an idle processor in vain, and an idle
// process notices its time later than the timerfd's anyway.
type backup struct {
	timer *time.Timer
	at    time.Duration // or 0, if it is not set
}

func (b *backup) set(at, now time.Duration, f func()) {
	if at == b.at {
		return
	}
	b.at = at
	if b.timer == nil {
		b.timer = time.AfterFunc(at-now, f)
	} else {
		b.timer.Reset(at - now)
	}
}

// rang is called when the timer has fired.
func (b *backup) rang() { b.at = 0 }
