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
func (w *waiter) read() {
	for {
		own, ended, err := w.wait()
		if ended {
			w.leave(err)
		}
		if own == nil || !w.ring(own) {
			return
		}
	}
}

// leave closes the descriptor. If the queue still counts on the waiter, waiting has
// failed, and it has to do without.
func (w *waiter) leave(err error) {
	q := w.queue
	q.mu.Lock()
	if q.waiter == w {
		q.lose(err, sinceEpoch())
	}
	q.mu.Unlock()
	w.fd.close()
}

// dismiss sends the waiter away. The queue's mu must be held.
func (w *waiter) dismiss() {
	if w.rings == nil {
		w.fd.interrupt()
	} else {
		w.fd.close() // it has no need to come back
	}
}

// wait returns the alarm that the waiter must ring itself, if any. ended tells that
// there is no need for it after that, err why it could not wait.
func (w *waiter) wait() (own *Alarm, ended bool, err error) {
	woken := false
	err = w.fd.wait(func() bool {
		own, ended = w.expired(woken)
		woken = true
		return own != nil || ended
	})
	return own, ended || err != nil, err
}

// ring rings own, and tells whether the waiter is still the one. If the ring ends
// the goroutine, another one goes on.
func (w *waiter) ring(own *Alarm) (still bool) {
	q, returned := w.queue, false
	defer func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.rung(own)
		w.rings = nil
		if still = q.waiter == w; still && !returned {
			q.startWaiter(w.fd)
		}
	}()
	own.call.Run()
	returned = true
	return
}

// expired is called when the timerfd may have expired, and, not woken, to begin
// with. It returns the alarm that the waiter must ring itself, if any; ended
// tells that there is no need for a waiter, or that it is lost.
func (w *waiter) expired(woken bool) (own *Alarm, ended bool) {
	q := w.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.waiter != w {
		return nil, true
	}
	now, ahead := sinceEpoch(), q.ahead()
	w.notice(now, woken)
	if now = q.waitUp(now, ahead); q.waiter != w {
		return nil, true
	}
	if own = q.takeDue(now, false); own == nil {
		q.aimAtFirst(now)
	} else {
		// Not only for later: the call of the kernel also wakes the runtime's
		// monitor, which sleeps while the process does. Without it nobody would
		// take the processor from a callback that keeps it.
		q.aimAt(now+q.linger, now)
	}
	if q.idle() && q.aim == unaimed { // else somebody rang it first, and the waiter stays
		q.waiter = nil
		q.backup.stop()
	}
	if q.waiter != w {
		return own, true
	}
	w.rings = own
	return own, false
}

// notice takes note that the timerfd has expired.
func (w *waiter) notice(now time.Duration, woken bool) {
	q := w.queue
	switch {
	case now >= q.aim:
		if woken {
			q.learn(now - q.aim)
		}
		q.aim = unaimed
	case woken && q.aim != unaimed: // in case the kernel's clock is a little fast, and it did expire
		if err := w.fd.aim(q.aim); err != nil {
			q.lose(err, now)
		}
	}
}

// waitUp waits for the first alarm, if the waiter was woken so far ahead of its
// time. It gives mu back meanwhile.
func (q *Queue) waitUp(now, ahead time.Duration) time.Duration {
	if q.waiting.Len() == 0 {
		return now
	}
	first := q.waiting.First().at
	if first <= now || first-now > ahead {
		return now
	}
	q.mu.Unlock()
	defer q.mu.Lock()
	for now < first {
		now = sinceEpoch()
	}
	return now
}
