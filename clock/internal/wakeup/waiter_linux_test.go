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
func TestLoneAlarmsShareAReader(t *testing.T) {
	k, opened := patient(t)
	a, rings := on(t, k)
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
func TestReaderEndsByItself(t *testing.T) {
	k, opened := counted(t)
	a, rings := on(t, k)
	for tries := 0; opened.Load() < 2; tries++ { // what is due before Set looks needs no waiter
		require.Less(t, tries, 100)
		a.Set(soon())
		received(t, rings)
		requireGone(t)
	}
}

// Whatever was aimed at before, a waiter that nobody needs any longer goes soon.
func TestReaderDoesNotStayForAnAlarmThatIsNoMore(t *testing.T) {
	k, _ := counted(t)
	far, _ := on(t, k)
	near, rings := on(t, k)

	far.Set(sinceEpoch() + time.Hour)
	near.Set(0) // rings until it is received below
	far.Stop()
	received(t, rings)
	requireGone(t)
}

func TestReaderDoesNotStayForAnAimThatWasMoved(t *testing.T) {
	k, _ := counted(t)
	a, rings := on(t, k)
	a.Set(sinceEpoch() + time.Hour)
	a.Set(0)
	received(t, rings)
	requireGone(t)
}

// Its time to go passes before it has begun to wait for it.
func TestReaderIsLateForItsOwnEnd(t *testing.T) {
	k, _ := counted(t)
	fd, err := k.open()
	require.NoError(t, err)
	r := &waiter{queue: k, fd: fd}
	k.mu.Lock()
	k.waiter, k.aim = r, unaimed
	k.aimAt(sinceEpoch()-1, sinceEpoch()) // as rung does, and then the process is stopped for linger
	k.mu.Unlock()
	time.Sleep(10 * time.Millisecond) // the poller takes note of it
	go r.read()
	requireGone(t)
}

// The waiter waits up for an alarm that somebody else then rings, and does not
// take that for the end.
func TestReaderStaysWhenBackupWasFirst(t *testing.T) {
	k, opened := patient(t)
	a, rings := on(t, k)
	for range 2000 {
		k.mu.Lock()
		k.lead.d, k.overload.left = longestLead, 0
		k.mu.Unlock()
		at := sinceEpoch() + longestLead
		a.Set(at)
		for sinceEpoch() < at {
		}
		go k.backUp()
		received(t, rings)
	}
	require.EqualValues(t, 1, opened.Load())
	a.Stop()
	requireGone(t)
}

// An alarm that was stopped while another rang does not end the waiter early: it is
// woken at that alarm's time and finds nothing that waits.
func TestReaderStaysAfterStopWhileOtherRings(t *testing.T) {
	k, opened := patient(t)
	a, rings := on(t, k)
	b, _ := on(t, k)
	for range 50 {
		a.Set(0) // rings until it is received below
		b.Set(sinceEpoch() + time.Hour)
		b.Stop()
		k.mu.Lock()
		k.aimAt(sinceEpoch(), sinceEpoch()) // the hour has passed
		k.mu.Unlock()
		require.Eventually(t, func() bool { return !hasAim(k) }, atMost, 100*time.Microsecond)
		received(t, rings)
	}
	require.EqualValues(t, 1, opened.Load())
	a.Stop()
	requireGone(t)
}

// hasAim tells whether k waits for a time to come.
func hasAim(k *Queue) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.aim != unaimed
}

// A waiter closes its descriptor when it ends, however it does. The garbage collector,
// which would close one that was forgotten, has nothing to do with that.
func TestReaderClosesItsDescriptor(t *testing.T) {
	k, _ := counted(t)
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	a, rings := on(t, k)
	const brief = 5 * time.Millisecond // what is due already needs no waiter

	a.Set(sinceEpoch() + brief) // the waiter ends by itself
	received(t, rings)
	requireGone(t)

	a.Set(sinceEpoch() + unaimed/2) // while it waits
	a.Stop()
	requireGone(t)

	stopped := make(chan bool) // while it rings
	var b *Alarm
	b = alarm(t, k, func() { b.Stop(); close(stopped) })
	b.Set(sinceEpoch() + brief)
	received(t, stopped)
	requireGone(t)
}
