package wakeup

import (
	"context"
	"runtime/pprof"
	"time"
)

// takeDue takes the due alarms out of the heap and starts a goroutine for each ring. It
// leaves the last ring to the caller, by returning its alarm, if no other alarm waits or if
// the caller has time to spare. q.mu must be held, here and in rung.
func (q *Queue) takeDue(now time.Duration, spare bool) (own *Alarm) {
	for q.waiting.Len() > 0 && q.waiting.First().at <= now {
		if own != nil {
			go q.ringElsewhere(own)
		}
		own = q.waiting.First()
		q.waiting.Drop(own)
		q.ringing++
	}
	if own != nil && q.waiting.Len() > 0 && !spare {
		go q.ringElsewhere(own)
		return nil
	}
	return own
}

// ringElsewhere is ring in a new goroutine.
func (q *Queue) ringElsewhere(a *Alarm) {
	forgetLabels()
	q.ring(a)
}

// forgetLabels removes the profiler labels that a goroutine has inherited from the one that started it, or that an
// alarm has left in it, since they have nothing to do with what runs next.
func forgetLabels() { pprof.SetGoroutineLabels(context.Background()) }

// ring rings a, which is counted in q.ringing. The calling goroutine must have nothing else
// to do, because the ring may take long or end it. q.mu must not be held.
func (q *Queue) ring(a *Alarm) {
	defer func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.rung(a)
	}()
	a.call.Run()
}

// rung is called after each ring. If no alarm waits or rings any more, rung ends the waiter, or aims the timerfd at the
// time when the waiter should end.
func (q *Queue) rung(a *Alarm) {
	q.ringing--
	switch {
	case !q.idle():
	case a.stopped || q.waiter == nil:
		q.end()
	default:
		now := sinceEpoch()
		q.aimAt(max(now, q.until), now)
	}
}
