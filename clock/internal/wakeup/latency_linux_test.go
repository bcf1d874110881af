package wakeup

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// While the process is overloaded, the backup is set to the first alarm too.
func TestOverload(t *testing.T) {
	q, _ := patient(t)
	a, rings := reportingAlarm(t, q)
	q.mu.Lock()
	q.learn(overloadedBy)
	q.mu.Unlock()
	aim := sinceEpoch() + time.Hour
	a.Set(aim)
	q.mu.Lock()
	backup := q.backup.at
	q.mu.Unlock()
	require.Equal(t, aim, backup)
	aim = soon()
	a.Set(aim)
	require.GreaterOrEqual(t, received(t, rings), aim)
	a.Stop()
	requireGone(t)
}

// The overload lasts until enough wake-ups were in time.
func TestOverloadPasses(t *testing.T) {
	var q Queue
	q.learn(overloadedBy)
	for range overloadFor {
		require.True(t, q.overload.lasts())
		require.Zero(t, q.ahead())
		q.learn(overloadedBy - 1)
	}
	require.False(t, q.overload.lasts())
	require.NotZero(t, q.ahead())
}

// One wake-up in four takes less than the lead, whatever the typical latency. A lead that
// is too long or too short is corrected soon.
func TestLead(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, typical := range []time.Duration{5, 20, 50} {
		typical *= time.Microsecond
		var l lead
		shorter := 0
		for i := range 10_000 {
			took := typical/2 + time.Duration(r.Int64N(int64(typical)))
			if i >= 200 && took < l.d {
				shorter++
			}
			l.learn(took)
		}
		require.InDelta(t, 10_000/leadShare, shorter, 300)
	}
	var l lead
	for range 1000 {
		l.learn(time.Second)
	}
	require.Equal(t, longestLead, l.d)
	for range 100 {
		l.learn(0)
	}
	require.Zero(t, l.d)
}

// For an alarm nearer than the lead, the timerfd is aimed at the current time. An aim in
// the past would overstate the latency of the wake-up, and lengthen the lead.
func TestNearAlarmsDoNotLengthenTheLead(t *testing.T) {
	q, _ := counted(t)
	a, rings := reportingAlarm(t, q)
	q.lead.d = longestLead
	before := sinceEpoch()
	a.Set(before + longestLead/2)
	q.mu.Lock()
	waiter, aim := q.waiter, q.aim
	q.mu.Unlock()
	if waiter != nil && aim != unaimed {
		require.GreaterOrEqual(t, aim, before)
	}
	received(t, rings)
	a.Stop()
	requireGone(t)
}

// A waiter that wakes ahead of the first alarm waits until the alarm's time.
func TestWaitUp(t *testing.T) {
	q, _ := counted(t)
	a := q.NewAlarm(epoch, func() {})
	q.mu.Lock()
	defer q.mu.Unlock()
	now := sinceEpoch()
	a.at = now + 20*time.Millisecond
	q.waiting.Put(a)
	defer q.waiting.Drop(a)
	require.GreaterOrEqual(t, q.waitUp(now, time.Second), a.at)
	require.GreaterOrEqual(t, sinceEpoch(), a.at)
	require.Equal(t, now, q.waitUp(now, time.Microsecond), "the alarm is too far to wait for")
}
