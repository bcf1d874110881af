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
		own := r.wait()
		if own == nil {
			r.fd.close()
			return
		}
		if !r.ring(own) {
			return
		}
	}
}

// dismiss sends the reader away. The keeper's mu must be held.
func (r *reader) dismiss() {
	if r.rings == nil {
		r.fd.interrupt()
	} else {
		r.fd.close() // it has no need to come back
	}
}

// wait returns the alarm that the reader must ring itself, or nil when it is no
// longer needed.
func (r *reader) wait() (own *preciseAlarm) {
	woken := false
	r.fd.wait(func() bool {
		var ended bool
		own, ended = r.expired(woken)
		woken = true
		return own != nil || ended
	})
	return own
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
// tells that there is no need for a reader.
func (r *reader) expired(woken bool) (own *preciseAlarm, ended bool) {
	k := r.keeper
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.reader != r {
		return nil, true
	}
	now, ahead := sinceEpoch(), k.ahead()
	switch {
	case now >= k.aim:
		if woken {
			k.learn(now - k.aim)
		}
		k.aim = never
	case woken && k.aim != never:
		_ = r.fd.aim(k.aim) // in case the kernel's clock is a little fast, and it did expire
	}
	if now = k.waitUp(now, ahead); k.reader != r {
		return nil, true
	}
	own = k.takeDue(now, false)
	k.aimAtFirst(now)
	r.rings = own
	if own != nil {
		// Not only for later: the call of the kernel also wakes the runtime's
		// monitor, which sleeps while the process does. Without it nobody would
		// take the processor from a callback that keeps it.
		k.aimAt(now + k.linger)
	}
	if k.idle() && k.aim == never { // else somebody rang it first, and the reader stays
		k.reader = nil
		return nil, true
	}
	return own, false
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
