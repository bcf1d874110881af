package wakeup

import (
	"runtime/debug"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock/internal/timerfds"
)

// The waiter stays between lone alarms, and neither it nor its descriptor is left
// when the last is stopped.
func TestLoneAlarmsShareAWaiter(t *testing.T) {
	q, opened := patient(t)
	a, rings := reportingAlarm(t, q)
	for range 300 {
		a.Set(soon())
		received(t, rings)
	}
	a.Set(sinceEpoch() + time.Hour)
	require.EqualValues(t, 1, opened.Load())
	require.Len(t, timerfds.Open(), 1)
	a.Stop()
	requireGone(t)

	a.Set(sinceEpoch() + time.Hour) // and it comes back
	require.EqualValues(t, 2, opened.Load())
	a.Stop()
	requireGone(t)
}

// An alarm that has rung and was not stopped holds the waiter for a while only.
func TestWaiterEndsByItself(t *testing.T) {
	q, opened := counted(t)
	a, rings := reportingAlarm(t, q)
	for tries := 0; opened.Load() < 2; tries++ { // what is due before Set looks needs no waiter
		require.Less(t, tries, 100)
		a.Set(soon())
		received(t, rings)
		requireGone(t)
	}
}

// Whatever was aimed at before, a waiter that nobody needs any longer goes soon.
func TestWaiterDoesNotStayForAnAlarmThatIsNoMore(t *testing.T) {
	q, _ := counted(t)
	far, _ := reportingAlarm(t, q)
	near, rings := reportingAlarm(t, q)

	far.Set(sinceEpoch() + time.Hour)
	near.Set(0) // rings until it is received below
	far.Stop()
	received(t, rings)
	requireGone(t)
}

func TestWaiterDoesNotStayForAnAimThatWasMoved(t *testing.T) {
	q, _ := counted(t)
	a, rings := reportingAlarm(t, q)
	a.Set(sinceEpoch() + time.Hour)
	a.Set(0)
	received(t, rings)
	requireGone(t)
}

// Its time to go passes before it has begun to wait for it.
func TestWaiterIsLateForItsOwnEnd(t *testing.T) {
	q, _ := counted(t)
	fd, err := q.open()
	require.NoError(t, err)
	w := &waiter{queue: q, fd: fd}
	q.mu.Lock()
	q.waiter, q.aim = w, unaimed
	q.aimAt(sinceEpoch()-1, sinceEpoch()) // as rung does, and then the process is stopped for linger
	q.mu.Unlock()
	time.Sleep(10 * time.Millisecond) // the poller takes note of it
	go w.read()
	requireGone(t)
}

// The waiter waits up for an alarm that somebody else then rings, and does not
// take that for the end.
func TestWaiterStaysWhenBackupWasFirst(t *testing.T) {
	q, opened := patient(t)
	a, rings := reportingAlarm(t, q)
	for range 2000 {
		q.mu.Lock()
		q.lead.d, q.overload.left = longestLead, 0
		q.mu.Unlock()
		at := sinceEpoch() + longestLead
		a.Set(at)
		for sinceEpoch() < at {
		}
		go q.backupFired()
		received(t, rings)
	}
	require.EqualValues(t, 1, opened.Load())
	a.Stop()
	requireGone(t)
}

// An alarm that was stopped while another rang does not end the waiter early: it is
// woken at that alarm's time and finds nothing that waits.
func TestWaiterStaysAfterStopWhileOtherRings(t *testing.T) {
	q, opened := patient(t)
	a, rings := reportingAlarm(t, q)
	b, _ := reportingAlarm(t, q)
	for range 50 {
		a.Set(0) // rings until it is received below
		b.Set(sinceEpoch() + time.Hour)
		b.Stop()
		q.mu.Lock()
		q.aimAt(sinceEpoch(), sinceEpoch()) // the hour has passed
		q.mu.Unlock()
		require.Eventually(t, func() bool { return !hasAim(q) }, atMost, 100*time.Microsecond)
		received(t, rings)
	}
	require.EqualValues(t, 1, opened.Load())
	a.Stop()
	requireGone(t)
}

// hasAim tells whether q waits for a time to come.
func hasAim(q *Queue) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.aim != unaimed
}

// A waiter closes its descriptor when it ends, however it does. The garbage collector,
// which would close one that was forgotten, has nothing to do with that.
func TestWaiterClosesItsDescriptor(t *testing.T) {
	q, _ := counted(t)
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	a, rings := reportingAlarm(t, q)
	const brief = 5 * time.Millisecond // what is due already needs no waiter

	a.Set(sinceEpoch() + brief) // the waiter ends by itself
	received(t, rings)
	requireGone(t)

	a.Set(sinceEpoch() + unaimed/2) // while it waits
	a.Stop()
	requireGone(t)

	stopped := make(chan bool) // while it rings
	var b *Alarm
	b = alarm(t, q, func() { b.Stop(); close(stopped) })
	b.Set(sinceEpoch() + brief)
	received(t, stopped)
	requireGone(t)
}
