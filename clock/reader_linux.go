package clock

import "time"

// reader is the goroutine that waits for the keeper's timerfd, as long as it is
// the one that the keeper names.
type reader struct {
	keeper *keeper
	fd     *timerfd
	rings  *preciseAlarm // guarded by the keeper's mu; nil while it waits
}

// read waits for what is due, and sees to it, until it has been dismissed or
// another reader is at its place.
func (r *reader) read() {
	for {
		own, ended, err := r.wait()
		if ended {
			r.leave(err)
		}
		if own == nil || !r.ring(own) {
			return
		}
	}
}

// leave closes the descriptor. If the keeper still counts on the reader, waiting has
// failed, and it has to do without.
func (r *reader) leave(err error) {
	k := r.keeper
	k.mu.Lock()
	if k.reader == r {
		k.lose(err, sinceEpoch())
	}
	k.mu.Unlock()
	r.fd.close()
}

// dismiss sends the reader away. The keeper's mu must be held.
func (r *reader) dismiss() {
	if r.rings == nil {
		r.fd.interrupt()
	} else {
		r.fd.close() // it has no need to come back
	}
}

// wait returns the alarm that the reader must ring itself, if any. ended tells that
// there is no need for it after that, err why it could not wait.
func (r *reader) wait() (own *preciseAlarm, ended bool, err error) {
	woken := false
	err = r.fd.wait(func() bool {
		own, ended = r.expired(woken)
		woken = true
		return own != nil || ended
	})
	return own, ended || err != nil, err
}

// ring rings own, and tells whether the reader is still the one. If the ring ends
// the goroutine, another one goes on.
func (r *reader) ring(own *preciseAlarm) (still bool) {
	k, returned := r.keeper, false
	defer func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.rung(own)
		r.rings = nil
		if still = k.reader == r; still && !returned {
			k.appoint(r.fd)
		}
	}()
	own.ringer.fire()
	returned = true
	return
}

// expired is called when the timerfd may have expired, and, not woken, to begin
// with. It returns the alarm that the reader must ring itself, if any; ended
// tells that there is no need for a reader, or that it is lost.
func (r *reader) expired(woken bool) (own *preciseAlarm, ended bool) {
	k := r.keeper
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.reader != r {
		return nil, true
	}
	now, ahead := sinceEpoch(), k.ahead()
	r.notice(now, woken)
	if now = k.waitUp(now, ahead); k.reader != r {
		return nil, true
	}
	if own = k.takeDue(now, false); own == nil {
		k.aimAtFirst(now)
	} else {
		// Not only for later: the call of the kernel also wakes the runtime's
		// monitor, which sleeps while the process does. Without it nobody would
		// take the processor from a callback that keeps it.
		k.aimAt(now+k.linger, now)
	}
	if k.idle() && k.aim == never { // else somebody rang it first, and the reader stays
		k.reader = nil
		k.backup.stop()
	}
	if k.reader != r {
		return own, true
	}
	r.rings = own
	return own, false
}

// notice takes note that the timerfd has expired.
func (r *reader) notice(now time.Duration, woken bool) {
	k := r.keeper
	switch {
	case now >= k.aim:
		if woken {
			k.learn(now - k.aim)
		}
		k.aim = never
	case woken && k.aim != never: // in case the kernel's clock is a little fast, and it did expire
		if err := r.fd.aim(k.aim); err != nil {
			k.lose(err, now)
		}
	}
}

// waitUp waits for the first alarm, if the reader was woken so far ahead of its
// time. It gives mu back meanwhile.
func (k *keeper) waitUp(now, ahead time.Duration) time.Duration {
	if k.waiting.len() == 0 {
		return now
	}
	first := k.waiting.first().at
	if first <= now || first-now > ahead {
		return now
	}
	k.mu.Unlock()
	defer k.mu.Lock()
	for now < first {
		now = sinceEpoch()
	}
	return now
}
