package tests

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// The clocks whose wake-ups need a descriptor, on Linux.
var holdingClocks = map[string]func() clock.Clock{
	"precise":  clock.Precise,
	"spinning": func() clock.Clock { return clock.Spinning(100 * time.Microsecond) },
}

// descriptors is the number of timerfds of the process; 0 where there are none.
func descriptors() (n int) {
	all, _ := filepath.Glob("/proc/self/fd/*")
	for _, fd := range all {
		if to, err := os.Readlink(fd); err == nil && strings.Contains(to, "timerfd") {
			n++
		}
	}
	return n
}

// requireNothingHeld waits until the process has no descriptor and no goroutine of the
// library. The 300 ms of the promise are checked in package wakeup, with invented times: on a
// slow machine everything takes longer.
func requireNothingHeld(t *testing.T) {
	t.Helper()
	const atMost = 10 * time.Second
	require.Eventually(t, func() bool { return descriptors() == 0 }, atMost, 10*time.Millisecond)
	require.NoError(t, goleak.Find())
}

// fireSoon has the wheel fire a timer, so that its clock holds what it needs.
func fireSoon(t *testing.T, w *hierarchy.Wheel) {
	t.Helper()
	fired := make(chan bool)
	mustSet(t, w, 5*time.Millisecond, func() { close(fired) })
	<-fired
}

// stopped sets a timer and stops it in time, which on a slow machine may take several tries.
func stopped(t *testing.T, w *hierarchy.Wheel, d time.Duration) {
	t.Helper()
	for !mustSet(t, w, d, func() {}).Stop() {
	}
}

// idleStates are ways in which a wheel has nothing due within the next second.
var idleStates = map[string]func(t *testing.T, w *hierarchy.Wheel){
	"empty": fireSoon,
	"due in an hour": func(t *testing.T, w *hierarchy.Wheel) {
		fireSoon(t, w)
		mustSet(t, w, time.Hour, func() {})
	},
	"due soon, stopped": func(t *testing.T, w *hierarchy.Wheel) {
		for d := time.Millisecond; d < time.Second; d *= 2 {
			stopped(t, w, time.Second+d)
			stopped(t, w, 100*time.Millisecond+d)
		}
	},
	"due soon, moved": func(t *testing.T, w *hierarchy.Wheel) {
		for d := time.Millisecond; d < time.Second; d *= 2 {
			for !mustSet(t, w, 100*time.Millisecond+d, func() {}).Reset(time.Hour) { // as in stopped
			}
		}
	},
	"repeating every hour": func(t *testing.T, w *hierarchy.Wheel) {
		fireSoon(t, w)
		_, err := w.Every(time.Hour, func() {})
		require.NoError(t, err)
		_, err = w.NewTicker(time.Hour)
		require.NoError(t, err)
		_, cancel := w.WithTimeout(t.Context(), time.Hour)
		t.Cleanup(cancel)
	},
	"stopped": func(t *testing.T, w *hierarchy.Wheel) {
		mustSet(t, w, time.Millisecond, func() {})
		mustSet(t, w, time.Hour, func() {})
		w.Stop()
	},
}

// Wheels that have nothing due within the next second hold no goroutine and no descriptor,
// whether they are stopped or not.
func TestIdleWheelsHoldNothing(t *testing.T) {
	for clockName, newClock := range holdingClocks {
		for name, beIdle := range idleStates {
			t.Run(clockName+", "+name, func(t *testing.T) {
				for range 100 {
					beIdle(t, newWheel(t, hierarchy.Config{Clock: newClock()}))
				}
				requireNothingHeld(t)
			})
		}
	}
}

// For timers that were all stopped, nothing is held at the times when they would have been due,
// and the wheel wakes at most once.
func TestStoppedTimersAreNotWaitedFor(t *testing.T) {
	w := newWheel(t, hierarchy.Config{})
	for i := range 1000 {
		stopped(t, w, time.Duration(1+i)*time.Millisecond)
	}
	last := time.Now().Add(time.Second)
	requireNothingHeld(t)
	before := w.Stats().Wakeups
	for time.Now().Before(last.Add(50 * time.Millisecond)) {
		require.Zero(t, descriptors())
		time.Sleep(5 * time.Millisecond)
	}
	require.LessOrEqual(t, w.Stats().Wakeups, before+1)
}

// The same holds for an Idle that was touched: it is not due at the time it was set for.
func TestTouchedIdleIsNotWaitedFor(t *testing.T) {
	const d = 1500 * time.Millisecond
	w := newWheel(t, hierarchy.Config{})
	var fired chan time.Time
	var touched time.Time
	for inTime := false; !inTime; { // on a slow machine the Idle may fire before it is touched
		requireNothingHeld(t)
		fired = make(chan time.Time, 1)
		idle, err := w.NewIdle(d, func() { fired <- time.Now() })
		require.NoError(t, err)
		time.Sleep(d / 5)
		touched = time.Now()
		inTime = idle.Touch()
	}
	for {
		held := descriptors()
		if time.Since(touched) >= d-110*time.Millisecond { // it is held for the new time
			break
		}
		require.Zero(t, held)
		time.Sleep(5 * time.Millisecond)
	}
	require.GreaterOrEqual(t, (<-fired).Sub(touched), d)
}

// A lone timer that is set while nothing is held fires, never early. The log says how late.
func TestLoneTimerAfterIdling(t *testing.T) {
	w := newWheel(t, hierarchy.Config{})
	fireSoon(t, w)
	requireNothingHeld(t)
	for _, d := range []time.Duration{300 * time.Millisecond, 1300 * time.Millisecond} {
		late := make(chan time.Duration, 1)
		due := time.Now().Add(d)
		mustSet(t, w, d, func() { late <- time.Since(due) })
		got := <-late
		require.GreaterOrEqual(t, got, time.Duration(0))
		t.Logf("%v ahead: %v late", d, got)
	}
}

// While a timer is near, there is a descriptor and still no goroutine, so tests that look for leaked goroutines need no
// list of exceptions.
func TestNoGoroutineWhileATimerIsNear(t *testing.T) {
	for name, newClock := range holdingClocks {
		t.Run(name, func(t *testing.T) {
			w := newWheel(t, hierarchy.Config{Clock: newClock()})
			for near := false; !near; { // a slow machine may need several tries
				timer := mustSet(t, w, 100*time.Millisecond, func() {})
				leaked := goleak.Find()
				near = timer.Active()
				timer.Stop()
				if near {
					require.NoError(t, leaked)
				}
			}
		})
	}
}
