package wakeup

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// reviewed returns a queue whose alarms become near an hour before their time, so that the
// review is long over by then, however slow the machine is.
func reviewed(t *testing.T) (q *Queue, opened *atomic.Int32) {
	q, opened = counted(t)
	q.trust = time.Hour
	q.spans = spans{near: time.Millisecond, hold: time.Hour, handOver: time.Hour}
	return q, opened
}

// nearSoon is a time that becomes near in some milliseconds.
func nearSoon(q *Queue) time.Duration { return sinceEpoch() + q.handOver + 5*time.Millisecond }

// An owner that does not need its alarm any more stops it, or sets it to a later time.
// Nothing is opened for it.
func TestReviewOfAnAlarmThatIsNotNeeded(t *testing.T) {
	for name, giveUp := range map[string]func(*Alarm){
		"stops": func(a *Alarm) { a.Stop() },
		"moves": func(a *Alarm) { a.Set(sinceEpoch() + 5*time.Hour) },
	} {
		t.Run(name, func(t *testing.T) {
			q, opened := reviewed(t)
			a, _ := reportingAlarm(t, q)
			over := make(chan bool)
			a.Review(func() { giveUp(a); close(over) })
			other, _ := reportingAlarm(t, q)
			other.Set(sinceEpoch() + 6*time.Hour)
			a.Set(nearSoon(q))
			received(t, over)
			require.Eventually(t, func() (settled bool) {
				locked(q, func() {
					settled = !q.reviewing && q.backup.at == q.waiting.First().at-q.handOver
				})
				return settled
			}, atMost, time.Millisecond)
			require.Zero(t, opened.Load())
		})
	}
}

// An alarm that is still needed gets a waiter. It is reviewed once.
func TestReviewOfAnAlarmThatIsNeeded(t *testing.T) {
	q, opened := reviewed(t)
	a, _ := reportingAlarm(t, q)
	var reviews atomic.Int32
	a.Review(func() { reviews.Add(1) })
	aim := nearSoon(q)
	a.Set(aim)
	require.Eventually(t, func() (aimed bool) {
		locked(q, func() { aimed = q.waiter != nil && q.aim != unaimed && q.aim <= aim })
		return aimed
	}, atMost, time.Millisecond)
	require.EqualValues(t, 1, reviews.Load())
	require.EqualValues(t, 1, opened.Load())
	locked(q, func() { require.Greater(t, q.until, aim) })
	a.Stop()
}

// A waiter that waits for other alarms has the alarms that become near reviewed, too.
func TestReviewBesideAWaiter(t *testing.T) {
	q, opened := reviewed(t)
	q.hold = time.Minute // so the alarm below is far while the waiter stays
	near, rings := reportingAlarm(t, q)
	for locked(q, func() { q.near = time.Minute }); opened.Load() == 0; {
		near.Set(sinceEpoch() + 5*time.Millisecond)
		received(t, rings)
	}
	a, _ := reportingAlarm(t, q)
	over := make(chan bool)
	a.Review(func() { a.Set(sinceEpoch() + 5*time.Hour); close(over) })
	a.Set(nearSoon(q))
	received(t, over)
	near.Set(sinceEpoch() + 5*time.Millisecond)
	received(t, rings)
	require.EqualValues(t, 1, opened.Load())
	near.Stop()
}

// An owner that never decides does not keep the others from ringing.
func TestReviewThatNeverDecides(t *testing.T) {
	q, _ := reviewed(t)
	a, _ := reportingAlarm(t, q)
	at := nearSoon(q)
	a.Review(func() { at--; a.Set(at) })
	a.Set(at)
	require.Eventually(t, func() (aimed bool) {
		locked(q, func() { aimed = q.waiter != nil && q.aim != unaimed })
		return aimed
	}, atMost, time.Millisecond)
	a.Stop()
}

// A review that takes too long does not keep its alarm from ringing, with a waiter or without.
func TestReviewThatTakesTooLong(t *testing.T) {
	for _, hold := range []time.Duration{0, time.Hour} {
		q, _ := counted(t)
		q.spans = spans{near: time.Hour, hold: hold, handOver: 40 * time.Millisecond}
		near, rings := reportingAlarm(t, q)
		near.Set(sinceEpoch() + 5*time.Millisecond)
		received(t, rings)
		locked(q, func() { q.near, q.until = 0, min(q.until, sinceEpoch()+30*time.Millisecond) })

		a, rang := reportingAlarm(t, q)
		release := make(chan bool)
		a.Review(func() { <-release })
		aim := sinceEpoch() + 60*time.Millisecond
		a.Set(aim)
		require.GreaterOrEqual(t, received(t, rang), aim)
		close(release)
		a.Stop()
		near.Stop()
	}
}
