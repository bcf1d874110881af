package clock

import "time"

// aimAtFirst aims at the first alarm that waits, if any does. The keeper's mu must be
// held, as for all below.
func (k *keeper) aimAtFirst(now time.Duration) {
	if k.waiting.len() == 0 {
		return
	}
	first := k.waiting.first().at
	if k.reader != nil {
		k.aimAt(max(now, first-k.ahead()), now)
	}
	if k.reader == nil || k.strain.lasts() {
		k.backup.set(first, now, k.backUp)
	}
}

// aimAt aims the timerfd. That calls the kernel, and is left out where it can be. If
// it fails, the reader is lost.
func (k *keeper) aimAt(at, now time.Duration) {
	if at != k.aim {
		if err := k.reader.fd.aim(at); err != nil {
			k.lose(err, now)
			return
		}
		k.aim = at
	}
	k.guard(now)
}

// guard has the backup look after the reader, in case it does not notice what it waits
// for and nobody aims the timerfd, which would tell. It comes up to guardSpan times as
// late as it might, to be moved seldom.
func (k *keeper) guard(now time.Duration) {
	lost := later(k.aim, k.trust)
	switch {
	case k.reader == nil || k.aim == never:
	case k.strain.lasts(): // the backup comes at the time of the first alarm
	case lost > now: // else the reader is away, ringing, and looks when it is back
		k.backup.between(lost, later(k.aim, guardSpan*k.trust), now, k.backUp)
	}
}

const guardSpan = 4

// doubt ends a reader that waits and should have noticed long ago that its timerfd has
// expired: somebody has tampered with that, or the process was stopped. To get another
// costs little.
func (k *keeper) doubt(now time.Duration) {
	if k.reader != nil && k.reader.rings == nil && later(k.aim, k.trust) <= now {
		k.end()
	}
}

// lose does without the reader, whose timerfd does not work any more, and tries again
// later, as if there had been none to be had.
func (k *keeper) lose(err error, now time.Duration) {
	k.end()
	k.failed, k.retry = err, now+retryAfter
	k.aimAtFirst(now)
}

// learn takes note of how long it took to notice the timerfd.
func (k *keeper) learn(took time.Duration) {
	if took >= strainedBy {
		k.strain.renew()
		return
	}
	k.strain.ease()
	k.lead.learn(took)
}

// ahead is how long before its time an alarm is aimed at.
func (k *keeper) ahead() time.Duration {
	if k.strain.lasts() {
		return 0
	}
	return k.lead.d
}
