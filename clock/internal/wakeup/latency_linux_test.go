package wakeup

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// While the process is overloaded the runtime's timer is set to ring, too.
func TestStrain(t *testing.T) {
	k, _ := counted(t)
	a, rings := on(t, k)
	k.mu.Lock()
	k.learn(overloadedBy)
	k.mu.Unlock()
	aim := sinceEpoch() + time.Hour
	a.Set(aim)
	k.mu.Lock()
	backup := k.backup.at
	k.mu.Unlock()
	require.Equal(t, aim, backup)
	aim = soon()
	a.Set(aim)
	require.GreaterOrEqual(t, received(t, rings), aim)
	a.Stop()
	requireGone(t)
}

// A process is taken to be overloaded until it was in time often enough.
func TestStrainPasses(t *testing.T) {
	var k Queue
	k.learn(overloadedBy)
	for range overloadFor {
		require.True(t, k.overload.lasts())
		require.Zero(t, k.ahead())
		k.learn(overloadedBy - 1)
	}
	require.False(t, k.overload.lasts())
	require.NotZero(t, k.ahead())
}

// Of wake-ups as long as they may be, one in four is shorter than the lead, and
// a lead once too long or too short is mended soon.
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

// An alarm nearer than the lead is aimed at for now: an aim in the past would
// make the wake-up seem to take longer than it does, and the lead grow.
func TestNearAlarmsDoNotLengthenTheLead(t *testing.T) {
	k, _ := counted(t)
	a, rings := on(t, k)
	k.lead.d = longestLead
	before := sinceEpoch()
	a.Set(before + longestLead/2)
	k.mu.Lock()
	waiter, aim := k.waiter, k.aim
	k.mu.Unlock()
	if waiter != nil && aim != unaimed {
		require.GreaterOrEqual(t, aim, before)
	}
	received(t, rings)
	a.Stop()
	requireGone(t)
}

// A waiter that woke ahead of the first alarm's time does not go on before it.
func TestWaitUp(t *testing.T) {
	k, _ := counted(t)
	a := k.NewAlarm(epoch, func() {})
	k.mu.Lock()
	defer k.mu.Unlock()
	now := sinceEpoch()
	a.at = now + 20*time.Millisecond
	k.waiting.Put(a)
	defer k.waiting.Drop(a)
	require.GreaterOrEqual(t, k.waitUp(now, time.Second), a.at)
	require.GreaterOrEqual(t, sinceEpoch(), a.at)
	require.Equal(t, now, k.waitUp(now, time.Microsecond), "the alarm is too far to wait for")
}
