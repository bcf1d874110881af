package wakeup

import "time"

// aimAtFirst aims at the first alarm that waits, if any does. The queue's mu must be
// held, as for all below.
func (k *Queue) aimAtFirst(now time.Duration) {
	if k.waiting.Len() == 0 {
		return
	}
	first := k.waiting.First().at
	if k.waiter != nil {
		k.aimAt(max(now, first-k.ahead()), now)
	}
	if k.waiter == nil || k.overload.lasts() {
		k.backup.set(first, now, k.backUp)
	}
}

// aimAt aims the timerfd. That calls the kernel, and is left out where it can be. If
// it fails, the waiter is lost.
func (k *Queue) aimAt(at, now time.Duration) {
	if at != k.aim {
		if err := k.waiter.fd.aim(at); err != nil {
			k.lose(err, now)
			return
		}
		k.aim = at
	}
	k.guard(now)
}

// guard has the backup look after the waiter, in case it does not notice what it waits
// for and nobody aims the timerfd, which would tell. It comes up to guardSpan times as
// late as it might, to be moved seldom.
func (k *Queue) guard(now time.Duration) {
	lost := later(k.aim, k.trust)
	switch {
	case k.waiter == nil || k.aim == unaimed:
	case k.overload.lasts(): // the backup comes at the time of the first alarm
	case lost > now: // else the waiter is away, ringing, and looks when it is back
		k.backup.between(lost, later(k.aim, guardSpan*k.trust), now, k.backUp)
	}
}

const guardSpan = 4

// doubt ends a waiter that waits and should have noticed long ago that its timerfd has
// expired: somebody has tampered with that, or the process was stopped. To get another
// costs little.
func (k *Queue) doubt(now time.Duration) {
	if k.waiter != nil && k.waiter.rings == nil && later(k.aim, k.trust) <= now {
		k.end()
	}
}

// lose does without the waiter, whose timerfd does not work any more, and tries again
// later, as if there had been none to be had.
func (k *Queue) lose(err error, now time.Duration) {
	k.end()
	k.failed, k.retry = err, now+retryAfter
	k.aimAtFirst(now)
}

// learn takes note of how long it took to notice the timerfd.
func (k *Queue) learn(took time.Duration) {
	if took >= overloadedBy {
		k.overload.renew()
		return
	}
	k.overload.ease()
	k.lead.learn(took)
}

// ahead is how long before its time an alarm is aimed at.
func (k *Queue) ahead() time.Duration {
	if k.overload.lasts() {
		return 0
	}
	return k.lead.d
}
