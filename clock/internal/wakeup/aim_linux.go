package wakeup

import "time"

// settle aims the timerfd, and if necessary the backup, at the time at which something must be done next. It ends the
// waiter if nothing needs the waiter, even if the waiter is ringing an alarm: the ring may take long. q.mu must be
// held, here and in the methods below.
func (q *Queue) settle(now time.Duration) {
	switch {
	case q.waiting.Len() > 0:
		q.aimAtFirst(q.waiting.First().at, now)
	case q.waiter != nil && now < q.until:
		q.aimAt(q.until, now)
	case q.waiter != nil:
		q.end()
	}
}

// aimAtFirst is settle if alarms wait. first is the time of the first alarm. For a far alarm something must be done
// only when it becomes near. But during a review the timerfd or the backup is aimed at the alarm itself, as the review
// may take long.
func (q *Queue) aimAtFirst(first, now time.Duration) {
	deferred, next := q.far(first) && !q.reviewing, first
	if deferred {
		next = first - q.handOver
	}
	switch {
	case q.waiter == nil:
	case !deferred:
		q.aimAt(max(now, first-q.ahead()), now)
	case now < q.until:
		q.aimAt(max(now, min(q.until, next)), now)
	default:
		q.end()
	}
	if q.waiter == nil || q.overload.lasts() {
		q.backup.set(next, now, q.backupFired)
	}
}

// aimAt aims the timerfd and sets the guard. It makes no system call if the aim is
// unchanged. If the timerfd cannot be aimed, the waiter is lost.
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

// guard sets the backup to check the waiter some time after the aim. This finds a lost
// timerfd even if no call aims it, which would also find it.
func (q *Queue) guard(now time.Duration) {
	switch {
	case q.waiter == nil || q.aim == unaimed:
	case q.overload.lasts() && q.waiting.Len() > 0: // the backup is set to the first alarm
	case later(q.aim, q.trust) > now: // otherwise the waiter is ringing, and aims again afterwards
		q.backup.about(later(q.aim, guardAfter*q.trust), q.trust, now, q.backupFired)
	}
}

// guardAfter is the time from the aim until the backup checks the waiter, in units of trust. It is long, so that the
// backup is seldom moved.
const guardAfter = 3

// endLostWaiter ends a waiter that still waits although its timerfd should have expired
// trust ago. Either the descriptor was lost or the process was stopped. In the second case
// the waiter is replaced needlessly, which costs little.
func (q *Queue) endLostWaiter(now time.Duration) {
	if q.waiter != nil && q.waiter.rings == nil && later(q.aim, q.trust) <= now {
		q.end()
	}
}

// lose ends the waiter because its timerfd no longer works. The queue continues with the backup alone, and tries to
// open another timerfd after retryAfter.
func (q *Queue) lose(err error, now time.Duration) {
	q.end()
	q.failed, q.retry = err, now+retryAfter
	q.settle(now)
}

// learn updates overload and lead with the latency of one wake-up.
func (q *Queue) learn(took time.Duration) {
	if took >= overloadedBy {
		q.overload.renew()
		return
	}
	q.overload.ease()
	q.lead.learn(took)
}

// ahead returns the time by which the timerfd is aimed before an alarm's time.
func (q *Queue) ahead() time.Duration {
	if q.overload.lasts() {
		return 0
	}
	return q.lead.d
}
