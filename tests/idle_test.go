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

// An hour passes on a wheel whose timers are later, or which has none, and it was
// never woken.
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

// There is no tick: three years to a timer cost one wake-up.
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

// Wheels that sleep on System hold no goroutine, with timers pending or without.
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

// A wheel with nothing pending aims its alarm at nothing.
func TestEmptyWheelAimsAtNothing(t *testing.T) {
	c := &handClock{}
	w := newWheel(t, hierarchy.Config{Clock: c, Executor: hierarchy.Inline})
	idle := func(when string) {
		t.Helper()
		at, aimed := c.target()
		require.False(t, aimed, "%s: aimed at %v", when, at)
	}
	idle("new")
	mustSet(t, w, time.Second, func() {})
	c.runTo(time.Minute)
	idle("all fired")
	timer := mustSet(t, w, time.Second, func() {})
	require.True(t, timer.Stop())
	c.runTo(2 * time.Minute) // it may have been aimed at what was stopped, once
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
