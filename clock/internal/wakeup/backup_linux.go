package wakeup

import "time"

// backup is a runtime timer that stands in for the timerfd while there is none, until the first alarm is near or until
// it rings. It also helps while the process is overloaded: the scheduler checks timers at every switch, but descriptors
// only when it has nothing else to run. At other times the backup only guards the waiter. The backup is moved rarely,
// because setting it wakes an idle processor needlessly. In an idle process the backup would fire later than the
// timerfd anyway.
type backup struct {
	timer *time.Timer
	at    time.Duration // 0 if the timer is not set
}

// set sets the timer to call f at the time at.
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

// about sets the timer to call f at the time at, or at most slack later. The timer may also call f earlier. Then f must
// call about again. about moves the timer only if it would fire within slack from now, or too late. So the timer is
// seldom moved, even if far and near times alternate.
func (b *backup) about(at, slack, now time.Duration, f func()) {
	if b.at < now+slack || b.at > later(at, slack) {
		b.set(at, now, f)
	}
}

func (b *backup) stop() {
	if b.at != 0 {
		b.at = 0
		b.timer.Stop()
	}
}

// rang records that the timer has fired.
func (b *backup) rang() { b.at = 0 }

// backupFired is the function of the backup's timer. It runs in a goroutine of its own.
func (q *Queue) backupFired() {
	q.mu.Lock()
	q.backup.rang()
	now := sinceEpoch()
	q.endLostWaiter(now)
	if q.becomesNear(now) {
		now = q.review()
	}
	own := q.takeDue(now, true)
	if own != nil && q.waiter != nil {
		q.overload.renew() // a waiter that was in time would have taken the alarm before
	}
	if q.waiting.Len() > 0 {
		q.ensureWaiter(q.waiting.First(), now)
	}
	q.settle(now)
	q.guard(now)
	q.mu.Unlock()
	if own != nil {
		q.ring(own)
	}
}
