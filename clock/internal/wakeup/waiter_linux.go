package wakeup

import "time"

// waiter is the goroutine that waits for the queue's timerfd, as long as it is
// the one that the queue names.
type waiter struct {
	queue *Queue
	fd    *timerfd
	rings *Alarm // guarded by the queue's mu; nil while it waits
}

// read waits for what is due, and sees to it, until it has been dismissed or
// another waiter is at its place.
func (r *waiter) read() {
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

// leave closes the descriptor. If the queue still counts on the waiter, waiting has
// failed, and it has to do without.
func (r *waiter) leave(err error) {
	k := r.queue
	k.mu.Lock()
	if k.waiter == r {
		k.lose(err, sinceEpoch())
	}
	k.mu.Unlock()
	r.fd.close()
}

// dismiss sends the waiter away. The queue's mu must be held.
func (r *waiter) dismiss() {
	if r.rings == nil {
		r.fd.interrupt()
	} else {
		r.fd.close() // it has no need to come back
	}
}

// wait returns the alarm that the waiter must ring itself, if any. ended tells that
// there is no need for it after that, err why it could not wait.
func (r *waiter) wait() (own *Alarm, ended bool, err error) {
	woken := false
	err = r.fd.wait(func() bool {
		own, ended = r.expired(woken)
		woken = true
		return own != nil || ended
	})
	return own, ended || err != nil, err
}

// ring rings own, and tells whether the waiter is still the one. If the ring ends
// the goroutine, another one goes on.
func (r *waiter) ring(own *Alarm) (still bool) {
	k, returned := r.queue, false
	defer func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.rung(own)
		r.rings = nil
		if still = k.waiter == r; still && !returned {
			k.appoint(r.fd)
		}
	}()
	own.call.Run()
	returned = true
	return
}

// expired is called when the timerfd may have expired, and, not woken, to begin
// with. It returns the alarm that the waiter must ring itself, if any; ended
// tells that there is no need for a waiter, or that it is lost.
func (r *waiter) expired(woken bool) (own *Alarm, ended bool) {
	k := r.queue
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.waiter != r {
		return nil, true
	}
	now, ahead := sinceEpoch(), k.ahead()
	r.notice(now, woken)
	if now = k.waitUp(now, ahead); k.waiter != r {
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
	if k.idle() && k.aim == unaimed { // else somebody rang it first, and the waiter stays
		k.waiter = nil
		k.backup.stop()
	}
	if k.waiter != r {
		return own, true
	}
	r.rings = own
	return own, false
}

// notice takes note that the timerfd has expired.
func (r *waiter) notice(now time.Duration, woken bool) {
	k := r.queue
	switch {
	case now >= k.aim:
		if woken {
			k.learn(now - k.aim)
		}
		k.aim = unaimed
	case woken && k.aim != unaimed: // in case the kernel's clock is a little fast, and it did expire
		if err := r.fd.aim(k.aim); err != nil {
			k.lose(err, now)
		}
	}
}

// waitUp waits for the first alarm, if the waiter was woken so far ahead of its
// time. It gives mu back meanwhile.
func (k *Queue) waitUp(now, ahead time.Duration) time.Duration {
	if k.waiting.Len() == 0 {
		return now
	}
	first := k.waiting.First().at
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
