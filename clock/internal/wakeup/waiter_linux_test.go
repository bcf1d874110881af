package wakeup

import (
	"runtime/debug"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock/internal/timerfds"
)

// The waiter stays between lone alarms. When the last alarm is stopped, the waiter ends and
// closes its descriptor.
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

	a.Set(sinceEpoch() + time.Hour) // starts another waiter
	require.EqualValues(t, 2, opened.Load())
	a.Stop()
	requireGone(t)
}

// The waiter ends some time after an alarm has rung, even if the alarm is not stopped.
func TestWaiterEndsByItself(t *testing.T) {
	q, opened := counted(t)
	a, rings := reportingAlarm(t, q)
	for tries := 0; opened.Load() < 2; tries++ { // an alarm that is already due needs no waiter
		require.Less(t, tries, 100)
		a.Set(soon())
		received(t, rings)
		requireGone(t)
	}
}

// The time at which the waiter should end passes before it begins to wait.
func TestWaiterIsLateForItsOwnEnd(t *testing.T) {
	q, _ := counted(t)
	fd, err := q.open()
	require.NoError(t, err)
	w := &waiter{queue: q, fd: fd}
	q.mu.Lock()
	q.waiter, q.aim = w, unaimed
	q.aimAt(sinceEpoch()-1, sinceEpoch()) // as if the process was stopped after rung aimed
	q.mu.Unlock()
	time.Sleep(10 * time.Millisecond) // lets the poller notice the expiry
	go w.read()
	requireGone(t)
}

// While the waiter spins until an alarm's time, another goroutine rings the alarm. The
// waiter stays.
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

// An alarm is stopped while another rings. The waiter wakes at the time of the stopped
// alarm, finds no waiting alarm, and stays.
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
		require.Eventually(t, func() bool { return aimsAtEnd(q) }, atMost, 100*time.Microsecond)
		received(t, rings)
	}
	require.EqualValues(t, 1, opened.Load())
	a.Stop()
	requireGone(t)
}

// aimsAtEnd reports whether q's timerfd is aimed at the time when the waiter should end.
func aimsAtEnd(q *Queue) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.aim == q.until
}

// A waiter closes its descriptor when it ends, in every way that it can end. The garbage
// collector is off, because it would close a descriptor that was forgotten.
func TestWaiterClosesItsDescriptor(t *testing.T) {
	q, _ := counted(t)
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	a, rings := reportingAlarm(t, q)
	const brief = 5 * time.Millisecond // an alarm that is already due needs no waiter

	a.Set(sinceEpoch() + brief) // the waiter ends by itself
	received(t, rings)
	requireGone(t)

	a.Set(sinceEpoch() + q.near/2) // the waiter is dismissed while it waits
	a.Stop()
	requireGone(t)

	stopped := make(chan bool) // the waiter is dismissed while it rings
	var b *Alarm
	b = alarm(t, q, func() { b.Stop(); close(stopped) })
	b.Set(sinceEpoch() + brief)
	received(t, stopped)
	requireGone(t)
}
