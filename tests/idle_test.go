package tests

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// A wheel with no timers due within an hour is not woken in that hour.
func TestIdleWheelIsNeverWoken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		empty := newWheel(t, hierarchy.Config{Clock: clock.System()})
		sleeping := newWheel(t, hierarchy.Config{Clock: clock.System()})
		for i := range 1000 {
			mustSet(t, sleeping, 2*time.Hour+time.Duration(i), func() {})
		}
		used := newWheel(t, hierarchy.Config{Clock: clock.System()})
		mustSet(t, used, time.Second, func() {})
		time.Sleep(time.Minute)
		before := used.Stats().Wakeups
		time.Sleep(time.Hour)
		synctest.Wait()
		require.Zero(t, empty.Stats().Wakeups)
		require.Zero(t, sleeping.Stats().Wakeups)
		require.EqualValues(t, 1, before)
		require.Equal(t, before, used.Stats().Wakeups)
	})
}

// There is no tick: a timer in three years costs one wake-up.
func TestNoTickOnTheWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWheel(t, hierarchy.Config{Clock: clock.System()})
		fired := make(chan time.Duration, 1)
		start := time.Now()
		mustSet(t, w, 3*years, func() { fired <- time.Since(start) })
		require.Equal(t, 3*years, <-fired)
		require.EqualValues(t, 1, w.Stats().Wakeups)
	})
}

// A sleeping wheel on System uses no goroutine, whether timers are pending or not.
func TestSleepingWheelsHoldNoGoroutine(t *testing.T) {
	c := clock.System()
	for range 50 {
		newWheel(t, hierarchy.Config{Clock: c})
		w := newWheel(t, hierarchy.Config{Clock: c, Executor: hierarchy.Pool(4)})
		mustSet(t, w, time.Hour, func() {})
		_, err := w.Every(time.Hour, func() {})
		require.NoError(t, err)
		_, err = w.NewTicker(time.Hour)
		require.NoError(t, err)
		_, cancel := w.WithTimeout(t.Context(), time.Hour)
		t.Cleanup(cancel)
		done := make(chan struct{})
		mustSet(t, w, 0, func() { close(done) })
		<-done
	}
	require.NoError(t, goleak.Find())
}

// A wheel without pending timers does not aim its alarm.
func TestEmptyWheelAimsAtNothing(t *testing.T) {
	c := &handClock{}
	w := newWheel(t, hierarchy.Config{Clock: c, Executor: hierarchy.Inline})
	idle := func(when string) {
		t.Helper()
		at, aimed := c.target()
		require.False(t, aimed, "%s: the alarm is aimed at %v", when, at)
	}
	idle("new")
	mustSet(t, w, time.Second, func() {})
	c.runTo(time.Minute)
	idle("all fired")
	timer := mustSet(t, w, time.Second, func() {})
	require.True(t, timer.Stop())
	c.runTo(2 * time.Minute) // the alarm may still ring once for a stopped timer
	idle("all stopped")
	require.LessOrEqual(t, w.Stats().Wakeups, uint64(2))
	mustSet(t, w, time.Second, func() {})
	w.Stop()
	idle("the wheel is stopped")
	r := newOf(t, hierarchy.Config{Clock: c, Executor: hierarchy.Inline}, func(int) {})
	_, err := r.Set(1, time.Second)
	require.NoError(t, err)
	r.Drain(nil)
	c.runTo(3 * time.Minute)
	idle("all drained")
}
