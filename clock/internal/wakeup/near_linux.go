package wakeup

import "time"

// spans determine when the queue has a waiter. A waiter takes a goroutine and a descriptor, so there is a waiter only
// for alarms that are near. The runtime timer of the backup holds the other alarms.
//
// The queue may not know that an alarm is no longer needed, as a wheel stops its alarm lazily. So when an alarm is set
// to a near time, the time until which the waiter stays is determined, and this time does not depend on whether the
// alarm rings. Invariant: handOver < near.
type spans struct {
	// near is the longest time ahead to which an alarm can be set and be near at once.
	near time.Duration
	// hold is the time for which the waiter stays after the time of a near alarm, so that it need not be started again
	// for the next near alarm. Ending the waiter and starting another costs as much as several wake-ups.
	hold time.Duration
	// handOver is the time before its ring at which a far alarm becomes near. The runtime timer of the backup may be
	// late by up to handOver without making the alarm late.
	handOver time.Duration
}

// defaultSpans release the waiter 40 ms after the last near alarm has rung, and at most 160 ms after
// it was stopped: tests often look for goroutines that are left, and wait for some tenths of a
// second at most.
var defaultSpans = spans{
	near:     120 * time.Millisecond,
	hold:     40 * time.Millisecond,
	handOver: 100 * time.Millisecond,
}

// stay makes the waiter stay for a near alarm at the time at. q.mu must be held, here and in the methods below except
// reviewed.
func (q *Queue) stay(at time.Duration) { q.until = max(q.until, later(at, q.hold)) }

// far reports whether an alarm at the time at needs no waiter yet.
func (q *Queue) far(at time.Duration) bool { return at > q.until }

// becomesNear reports whether the time has come to have a waiter for the first alarm, which
// was far.
func (q *Queue) becomesNear(now time.Duration) bool {
	return q.waiting.Len() > 0 && q.nears(q.waiting.First(), now) && !q.reviewing
}

func (q *Queue) nears(a *Alarm, now time.Duration) bool {
	return q.far(a.at) && a.at > now && a.at-q.handOver <= now
}

// review calls the review functions of the alarms that become near, until one of these alarms is still needed. Then it
// makes the waiter stay for that alarm. review unlocks q.mu during the calls, and returns the current time.
func (q *Queue) review() (now time.Duration) {
	q.reviewing = true
	now = sinceEpoch()
	for n := q.waiting.Len(); n > 0 && q.waiting.Len() > 0; n-- { // a limit, since an owner may set its alarm again and again
		a := q.waiting.First()
		if a.review == nil || !q.nears(a, now) {
			break
		}
		at := a.at
		q.settle(now)
		q.mu.Unlock()
		a.review()
		q.mu.Lock()
		now = sinceEpoch()
		if a.at == at && !a.stopped {
			break
		}
	}
	q.reviewing = false
	if q.becomesNear(now) {
		q.stay(q.waiting.First().at)
	}
	return now
}

// reviewed is review in a goroutine of its own, for the waiter, which meanwhile waits for the
// first alarm.
func (q *Queue) reviewed() {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.review()
	if q.waiting.Len() > 0 {
		q.ensureWaiter(q.waiting.First(), now)
	}
	q.settle(now)
}
