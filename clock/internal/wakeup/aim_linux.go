package wakeup

import "time"

// aimAtFirst aims at the first alarm that waits, if any does. The queue's mu must be
// held, as for all below.
func (q *Queue) aimAtFirst(now time.Duration) {
	if q.waiting.Len() == 0 {
		return
	}
	first := q.waiting.First().at
	if q.waiter != nil {
		q.aimAt(max(now, first-q.ahead()), now)
	}
	if q.waiter == nil || q.overload.lasts() {
		q.backup.set(first, now, q.backupFired)
	}
}

// aimAt aims the timerfd. That calls the kernel, and is left out where it can be. If
// it fails, the waiter is lost.
func (q *Queue) aimAt(at, now time.Duration) {
	if at != q.aim {
		if err := q.waiter.fd.aim(at); err != nil {
			q.lose(err, now)
			return
		}
		q.aim = at
	}
	q.guard(now)
}

// guard has the backup look after the waiter, in case it does not notice what it waits
// for and nobody aims the timerfd, which would tell. It comes up to guardSpan times as
// late as it might, to be moved seldom.
func (q *Queue) guard(now time.Duration) {
	lost := later(q.aim, q.trust)
	switch {
	case q.waiter == nil || q.aim == unaimed:
	case q.overload.lasts(): // the backup comes at the time of the first alarm
	case lost > now: // else the waiter is away, ringing, and looks when it is back
		q.backup.between(lost, later(q.aim, guardSpan*q.trust), now, q.backupFired)
	}
}

const guardSpan = 4

// endLostWaiter ends a waiter that waits and should have noticed long ago that its timerfd has
// expired: somebody has tampered with that, or the process was stopped. To get another
// costs little.
func (q *Queue) endLostWaiter(now time.Duration) {
	if q.waiter != nil && q.waiter.rings == nil && later(q.aim, q.trust) <= now {
		q.end()
	}
}

// lose does without the waiter, whose timerfd does not work any more, and tries again
// later, as if there had been none to be had.
func (q *Queue) lose(err error, now time.Duration) {
	q.end()
	q.failed, q.retry = err, now+retryAfter
	q.aimAtFirst(now)
}

// learn takes note of how long it took to notice the timerfd.
func (q *Queue) learn(took time.Duration) {
	if took >= overloadedBy {
		q.overload.renew()
		return
	}
	q.overload.ease()
	q.lead.learn(took)
}

// ahead is how long before its time an alarm is aimed at.
func (q *Queue) ahead() time.Duration {
	if q.overload.lasts() {
		return 0
	}
	return q.lead.d
}
