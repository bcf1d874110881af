package wakeup

import "time"

// waiter is the goroutine that waits for the queue's timerfd, as long as it is queue.waiter.
type waiter struct {
	queue *Queue
	fd    *timerfd
	rings *Alarm // the alarm that the waiter rings, or nil while it waits; guarded by queue.mu
}

// read waits for due alarms and rings them, until the waiter is dismissed or another waiter
// has taken its place.
func (w *waiter) read() {
	for {
		forgetLabels()
		own, ended, err := w.wait()
		if ended {
			w.leave(err)
		}
		if own == nil || !w.ring(own) {
			return
		}
	}
}

// leave closes the descriptor. If this is still the queue's waiter, waiting has failed with
// err, and the queue loses the waiter.
func (w *waiter) leave(err error) {
	q := w.queue
	q.mu.Lock()
	if q.waiter == w {
		q.lose(err, sinceEpoch())
	}
	q.mu.Unlock()
	w.fd.close()
}

// dismiss ends the waiter. queue.mu must be held.
func (w *waiter) dismiss() {
	if w.rings == nil {
		w.fd.interrupt()
	} else {
		w.fd.close() // the waiter does not wait again after the ring
	}
}

// wait returns the alarm that the waiter must ring itself, if any. ended means that the
// waiter is not needed after that. err is the reason why it could not wait.
func (w *waiter) wait() (own *Alarm, ended bool, err error) {
	woken := false
	err = w.fd.wait(func() bool {
		own, ended = w.expired(woken)
		woken = true
		return own != nil || ended
	})
	return own, ended || err != nil, err
}

// ring rings own, and reports whether this is still the queue's waiter. If the ring ends the
// goroutine, another waiter is started.
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

// expired is called when the timerfd may have expired. The first call, with woken false, comes before the waiter waits.
// It returns the alarm that the waiter must ring itself, if any. ended means that the queue no longer needs this
// waiter, or has lost it.
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
		if q.becomesNear(now) {
			q.reviewing = true
			go q.reviewed()
		}
		q.settle(now)
	} else {
		// This aims at the time when the waiter should end. The system call also wakes the
		// runtime's monitor, which sleeps while the process is idle. Without the monitor, a
		// callback that does not yield would keep its processor.
		q.aimAt(max(now, q.until), now)
	}
	if q.waiter != w {
		return own, true
	}
	w.rings = own
	return own, false
}

// notice handles the expiry of the timerfd and learns from the latency.
func (w *waiter) notice(now time.Duration, woken bool) {
	q := w.queue
	switch {
	case now >= q.aim:
		if woken {
			q.learn(now - q.aim)
		}
		q.aim = unaimed
	case woken && q.aim != unaimed:
		// The timerfd may have expired, if the kernel's clock is a little fast.
		if err := w.fd.aim(q.aim); err != nil {
			q.lose(err, now)
		}
	}
}

// waitUp spins until the time of the first alarm, if that time is no further away than ahead. It unlocks q.mu while it
// spins. It returns the current time.
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
