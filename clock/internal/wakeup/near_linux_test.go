package wakeup

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock/internal/timerfds"
)

// slowSpans are so long that no machine is too slow for them. Only calls with an invented
// time reach their ends.
var slowSpans = spans{near: 20 * time.Hour, hold: 25 * time.Hour, handOver: 10 * time.Hour}

// The waiter has gone 50 ms after the last near alarm has rung, and 200 ms after it was stopped.
// What is left of them is for the waiter to notice, and to end.
func TestDefaultSpans(t *testing.T) {
	d := defaultSpans
	require.LessOrEqual(t, d.hold, 40*time.Millisecond)
	require.LessOrEqual(t, d.near+d.hold, 170*time.Millisecond)
	require.Positive(t, d.hold, "an alarm may be set after another has rung")
	require.Less(t, d.handOver, d.near)
	require.GreaterOrEqual(t, d.handOver, 50*time.Millisecond, "runtime timers may be late")
}

// What is done next depends on the first alarm, on how long the waiter stays, and on the
// current time. All times are hours from now.
func TestSettle(t *testing.T) {
	const none = -1
	type do struct{ aim, backup int } // none: there is no waiter, or the backup only guards
	for name, c := range map[string]struct {
		waiter       bool
		until, first int
		want         do
	}{
		"nothing waits":                         {true, 25, none, do{25, none}},
		"nothing waits, the waiter's time ends": {true, 0, none, do{none, none}},
		"near":                                  {true, 25, 20, do{20, none}},
		"at the end of the waiter's time":       {true, 25, 25, do{25, none}},
		"far":                                   {true, 25, 100, do{25, none}},
		"far, but soon near":                    {true, 25, 30, do{20, none}},
		"far, and the waiter's time ends":       {true, 0, 100, do{none, 90}},
		"far, without a waiter":                 {false, 0, 100, do{none, 90}},
		"far, with time for the waiter":         {false, 25, 100, do{none, 90}},
		"near, without a timerfd":               {false, 25, 20, do{none, 20}},
	} {
		t.Run(name, func(t *testing.T) {
			q, _ := counted(t)
			q.spans, q.trust = slowSpans, 1000*time.Hour
			now := sinceEpoch()
			after := func(hours int) time.Duration { return now + time.Duration(hours)*time.Hour }
			q.mu.Lock()
			defer q.mu.Unlock()
			defer q.end()
			q.until = after(c.until)
			a := q.NewAlarm(epoch, func() {})
			if c.first != none {
				a.at = after(c.first)
				q.waiting.Put(a)
				defer q.waiting.Drop(a)
			}
			if c.waiter {
				q.begin(now)
			}
			q.settle(now)
			got := do{none, none}
			if q.waiter != nil {
				got.aim = int((q.aim + time.Millisecond - now) / time.Hour) // aimed ahead
			} else if q.backup.at != 0 {
				got.backup = int((q.backup.at - now) / time.Hour)
			}
			require.Equal(t, c.want, got)
		})
	}
}

// A far alarm takes no descriptor and no goroutine, and rings in time nevertheless.
func TestFarAlarmTakesNothing(t *testing.T) {
	q, opened := counted(t)
	a, rings := reportingAlarm(t, q)
	a.Set(sinceEpoch() + time.Hour)
	require.Empty(t, timerfds.Open())
	require.Zero(t, waiters())
	locked(q, func() { require.Equal(t, a.at-q.handOver, q.backup.at) })

	aim := sinceEpoch() + q.near + q.near/4
	a.Set(aim)
	require.GreaterOrEqual(t, received(t, rings), aim)
	require.LessOrEqual(t, opened.Load(), int32(1))
}

// While alarms are frequent, the waiter stays.
func TestFrequentAlarmsShareAWaiter(t *testing.T) {
	q, opened := counted(t)
	q.near, q.hold, q.handOver = 20*q.near, 20*q.hold, 20*q.handOver // for a slow machine
	q.trust = time.Hour
	a, rings := reportingAlarm(t, q)
	most, until := int32(0), time.Duration(0)
	for range 50 {
		aim := sinceEpoch() + 50*time.Millisecond
		if a.Set(aim); sinceEpoch() >= until { // the first, or the machine is slower still
			most++
		}
		until = aim + q.hold
		require.GreaterOrEqual(t, received(t, rings), aim)
	}
	require.Positive(t, opened.Load())
	require.LessOrEqual(t, opened.Load(), most)
	a.Stop()
}

// The waiter goes although a far alarm waits, and although its owner sets it again and again.
func TestWaiterDoesNotStayForFarAlarms(t *testing.T) {
	q, _ := counted(t)
	a, rings := reportingAlarm(t, q)
	far, _ := reportingAlarm(t, q)
	far.Set(sinceEpoch() + time.Hour)
	a.Set(soon())
	received(t, rings)
	require.Eventually(t, func() bool {
		far.Set(sinceEpoch() + time.Hour)
		return len(timerfds.Open()) == 0 && waiters() == 0
	}, atMost, time.Millisecond)
	locked(q, func() { require.Equal(t, far.at-q.handOver, q.backup.at) })
}

// A ring does not lengthen the waiter's time: its owner may have had no need for it.
func TestRingDoesNotLengthenTheStay(t *testing.T) {
	q, _ := patient(t)
	a, rings := reportingAlarm(t, q)
	a.Set(sinceEpoch() + 5*time.Millisecond)
	var until time.Duration
	locked(q, func() { until = q.until })
	received(t, rings)
	require.Eventually(t, func() (over bool) {
		locked(q, func() { over = q.idle() })
		return over
	}, atMost, time.Millisecond)
	locked(q, func() { require.Equal(t, until, q.until) })
	a.Stop()
}

// A ring that takes long does not keep the descriptor, in an overloaded process or not.
func TestLongRingKeepsNoDescriptor(t *testing.T) {
	t.Run("idle", func(t *testing.T) { longRing(t, 0) })
	t.Run("overloaded", func(t *testing.T) { longRing(t, overloadFor) })
}

func longRing(t *testing.T, overload int) {
	q, _ := counted(t)
	q.trust, q.overload.left = 10*time.Millisecond, overload
	rang, release := make(chan bool), make(chan bool)
	a := alarm(t, q, func() { rang <- true; <-release })
	a.Set(sinceEpoch() + 5*time.Millisecond)
	received(t, rang)
	require.Eventually(t, func() bool { return len(timerfds.Open()) == 0 }, atMost, time.Millisecond)
	close(release)
}

// In an overloaded process the backup is set to the first alarm. When the last one that waits
// is stopped, or rings at once, while another rings, the backup guards the waiter again.
func TestGuardAfterTheLastAlarmInAnOverload(t *testing.T) {
	for name, end := range map[string]func(*Alarm){
		"stopped":       (*Alarm).Stop,
		"rings at once": func(a *Alarm) { a.Set(0) },
	} {
		t.Run(name, func(t *testing.T) {
			q, _ := counted(t)
			q.near, q.hold = time.Hour, time.Hour // the waiter stays, however slow the machine is
			q.overload.left = overloadFor
			rings := make(chan bool)
			busy := alarm(t, q, func() { rings <- true; rings <- true })
			busy.Set(0)
			<-rings
			near := alarm(t, q, func() {})
			near.Set(sinceEpoch() + q.near)
			near.Stop()
			far := alarm(t, q, func() {})
			far.Set(sinceEpoch() + 3*time.Hour)
			end(far)
			locked(q, func() {
				require.NotNil(t, q.waiter)
				require.NoError(t, q.checkBackup())
			})
			<-rings
		})
	}
}
