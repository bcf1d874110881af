package wakeup

import "time"

// backup is a runtime timer that stands in for the timerfd: while there is none,
// and while the process is overloaded, since the scheduler looks at its timers at
// every switch and at its descriptors when it has nothing else to do. At other
// times it only guards the waiter, and is moved seldom: setting it wakes an idle
// processor in vain, and an idle process notices its time later than the timerfd's
// anyway.
type backup struct {
	timer *time.Timer
	at    time.Duration // or 0, if it is not set
}

// set has f called at that time.
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

// between has f called between two times. If the timer is set to one of these it is
// left alone, so that it is moved once for many calls.
func (b *backup) between(from, to, now time.Duration, f func()) {
	if b.at < from || b.at > to {
		b.set(to-(to-from)/3, now, f)
	}
}

func (b *backup) stop() {
	if b.at != 0 {
		b.at = 0
		b.timer.Stop()
	}
}

// rang is called when the timer has fired.
func (b *backup) rang() { b.at = 0 }

// backupFired is called by the backup, in a goroutine of its own.
func (q *Queue) backupFired() {
	q.mu.Lock()
	q.backup.rang()
	now := sinceEpoch()
	q.endLostWaiter(now)
	own := q.takeDue(now, true)
	if own != nil && q.waiter != nil {
		q.overload.renew() // it would have come earlier
	}
	if q.waiting.Len() > 0 {
		q.ensureWaiter(q.waiting.First(), now)
	}
	q.aimAtFirst(now)
	q.guard(now)
	q.mu.Unlock()
	if own != nil {
		q.ring(own)
	}
}
