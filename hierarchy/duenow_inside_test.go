package hierarchy

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// After any calls, a timer that was due when it was set has fired, or the alarm is aimed at
// a time that has passed.
func TestAimOfDueTimersIsNow(t *testing.T) {
	for seed := range uint64(150) {
		a := newAimRun(t, seed)
		for range 300 {
			a.step()
			if a.settle(); a.r.IntN(4) > 0 {
				continue
			}
			due, err := a.w.Set(0, -1)
			require.NoError(t, err)
			if n := len(a.pending); n > 0 && a.r.IntN(2) == 0 && a.pending[a.r.IntN(n)].timer.Stop() {
				require.True(t, due.Stop())
				due, err = a.w.Set(0, 0)
				require.NoError(t, err)
			}
			a.clock.requireAim(t, a.clock.elapsed.Load())
			a.ring()
			a.settle()
			require.False(t, due.Active())
			require.NoError(t, a.w.core.check())
		}
	}
}

// A timer that is due when a callback sets it fires right after the round, although the round
// began before that deadline. That is another wake-up, which the alarm is not aimed at.
func TestAimOfDueTimersSetInARound(t *testing.T) {
	c := &handClock{}
	w, err := New(Config{Clock: c, Shards: 2, Precision: aimPrecision, Executor: Inline})
	require.NoError(t, err)
	fired := false
	_, err = w.AfterFunc(10, func() {
		c.elapsed.Add(5)
		_, err := w.AfterFunc(0, func() { fired = true })
		require.NoError(t, err)
	})
	require.NoError(t, err)
	c.elapsed.Store(10)
	c.ring()
	require.True(t, fired)
	require.EqualValues(t, 2, w.core.aim.count())
	_, err = w.AfterFunc(1, func() {})
	require.NoError(t, err)
	require.EqualValues(t, 15+aimPrecision, c.aim, "an ordinary timer waits")
}

// A due timer asks for no wake-up once it was stopped and the wheel has noticed.
func TestAimOfStoppedDueTimer(t *testing.T) {
	c := &handClock{}
	w, err := New(Config{Clock: c, Shards: 1, Precision: aimPrecision, Executor: Inline})
	require.NoError(t, err)
	timer, err := w.AfterFunc(0, func() {})
	require.NoError(t, err)
	_, err = w.AfterFunc(5, func() {})
	require.NoError(t, err)
	require.True(t, timer.Stop())
	c.ring()
	require.EqualValues(t, aimPrecision, c.aim)
}

// With Go, no call for what is due touches the alarm. A Schedule whose first run is due
// keeps a node, in no slot.
func TestDueNowWithGoAimsAtNothing(t *testing.T) {
	c := &handClock{}
	w, err := New(Config{Clock: c, Shards: 1})
	require.NoError(t, err)
	ran, again := make(chan bool), make(chan bool)
	_, err = w.AfterFunc(-1, func() { ran <- true })
	require.NoError(t, err)
	<-ran
	calls := 0
	r, err := w.Schedule(planned(func(now time.Time) time.Time {
		if calls++; calls == 1 {
			return now.Add(-1)
		}
		return now.Add(time.Hour)
	}), func() { ran <- true; <-again })
	require.NoError(t, err)
	<-ran
	require.False(t, c.aimed)
	require.Equal(t, 1, w.Len())
	require.Equal(t, none, w.core.nearest())
	require.NoError(t, w.core.check())
	again <- true
	require.True(t, r.Stop())
	require.NoError(t, w.Shutdown(context.Background()))
}

type planned func(time.Time) time.Time

func (p planned) Next(t time.Time) time.Time { return p(t) }

// A crowd that grows by Schedules whose first run is due is still dealt ahead of its time.
func TestCrowdThatGrowsByDueSchedules(t *testing.T) {
	c := &handClock{}
	w, err := New(Config{Clock: c, Shards: 1})
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(1, 2))
	const hour = int64(time.Hour)
	for range 10_000 {
		_, err := w.AfterFunc(time.Duration(hour+r.Int64N(hour/100)), func() {})
		require.NoError(t, err)
	}
	s := w.core.shards[0]
	s.notBefore.store(none) // as if nothing were aimed at
	for range 5000 {
		_, err := w.core.addFired(func() {}, 0, keepNode)
		require.NoError(t, err)
		w.core.submit(func() {})
	}
	require.Less(t, s.notBefore.load(), bound(hour))
	require.NoError(t, w.Shutdown(context.Background()))
}
