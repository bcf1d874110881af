package clock_test

import (
	"math"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

// bubble calls f in a synctest bubble with a System clock. Alarms that f makes can append
// the times of their rings to rings.
func bubble(t *testing.T, f func(t *testing.T, c clock.Clock, rings *[]time.Duration)) {
	synctest.Test(t, func(t *testing.T) {
		var rings []time.Duration
		f(t, clock.System(), &rings)
	})
}

// pass waits for d in a bubble, and then until all other goroutines are blocked.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestSystemAlarm(t *testing.T) {
	bubble(t, func(t *testing.T, c clock.Clock, rings *[]time.Duration) {
		alarm := c.NewAlarm(func() { *rings = append(*rings, c.Elapsed()) })
		alarm.Stop()
		alarm.Set(1500 * time.Millisecond)
		alarm.Set(time.Hour + 7) // later
		pass(time.Second)
		alarm.Set(time.Minute + 3) // earlier
		pass(2 * time.Hour)
		require.Equal(t, []time.Duration{time.Minute + 3}, *rings)
		alarm.Set(3 * time.Hour)
		alarm.Stop()
		pass(2 * time.Hour)
		require.Len(t, *rings, 1)
		alarm.Set(5 * time.Hour) // after Stop
		alarm.Set(5 * time.Hour)
		pass(2 * time.Hour)
		require.Equal(t, []time.Duration{time.Minute + 3, 5 * time.Hour}, *rings)
		alarm.Set(math.MaxInt64)
		alarm.Stop()
	})
}

func TestSystemAlarmInThePast(t *testing.T) {
	for _, at := range []time.Duration{-time.Hour, 0, 1, time.Minute} {
		bubble(t, func(t *testing.T, c clock.Clock, rings *[]time.Duration) {
			pass(time.Minute)
			alarm := c.NewAlarm(func() { *rings = append(*rings, c.Elapsed()) })
			alarm.Set(at)
			synctest.Wait()
			require.Equal(t, []time.Duration{time.Minute}, *rings)
		})
	}
}

func TestSystemAlarmSetInRing(t *testing.T) {
	bubble(t, func(t *testing.T, c clock.Clock, rings *[]time.Duration) {
		var alarm clock.Alarm
		alarm = c.NewAlarm(func() {
			*rings = append(*rings, c.Elapsed())
			if len(*rings) < 4 {
				alarm.Set(time.Duration(len(*rings)) * time.Second) // the first is past
			}
		})
		alarm.Set(time.Second)
		pass(time.Minute)
		s := time.Second
		require.Equal(t, []time.Duration{s, s, 2 * s, 3 * s}, *rings)
	})
}

// A ring that becomes due while another runs comes after that one has returned.
func TestSystemRingsDoNotOverlap(t *testing.T) {
	bubble(t, func(t *testing.T, c clock.Clock, rings *[]time.Duration) {
		ringing := false
		var alarm clock.Alarm
		alarm = c.NewAlarm(func() {
			require.False(t, ringing)
			ringing = true
			*rings = append(*rings, c.Elapsed())
			if len(*rings) == 1 {
				alarm.Set(2 * time.Second)
			}
			time.Sleep(time.Minute)
			ringing = false
		})
		alarm.Set(time.Second)
		pass(time.Hour)
		require.Equal(t, []time.Duration{time.Second, 61 * time.Second}, *rings)
	})
}

func TestSystemRingExitsItsGoroutine(t *testing.T) {
	bubble(t, func(t *testing.T, c clock.Clock, rings *[]time.Duration) {
		var alarm clock.Alarm
		alarm = c.NewAlarm(func() {
			*rings = append(*rings, c.Elapsed())
			if len(*rings) == 1 {
				alarm.Set(2 * time.Second) // becomes due during this ring
				time.Sleep(time.Minute)
			}
			runtime.Goexit()
		})
		alarm.Set(time.Second)
		pass(time.Hour)
		require.Equal(t, []time.Duration{time.Second, 61 * time.Second}, *rings)
		alarm.Set(2 * time.Hour)
		pass(2 * time.Hour)
		require.Equal(t, 2*time.Hour, (*rings)[2])
	})
}

func TestSystemTime(t *testing.T) {
	bubble(t, func(t *testing.T, c clock.Clock, _ *[]time.Duration) {
		require.Zero(t, c.Elapsed())
		start := c.Now()
		require.True(t, start.Equal(time.Now()))
		pass(time.Hour)
		require.Equal(t, time.Hour, c.Elapsed())
		require.Equal(t, time.Hour, c.Now().Sub(start))
		require.Zero(t, clock.System().Elapsed())
	})
}

// A lone timer of a wheel is exact, from a microsecond to three years.
func TestSystemWheel(t *testing.T) {
	bubble(t, func(t *testing.T, c clock.Clock, rings *[]time.Duration) {
		w, err := hierarchy.New(hierarchy.Config{Clock: c})
		require.NoError(t, err)
		defer w.Stop()
		delays := []time.Duration{time.Microsecond, 1700 * time.Microsecond, 61*time.Second + 1, 3 * 365 * 24 * time.Hour}
		for _, d := range delays {
			after(t, w, d, func() { *rings = append(*rings, c.Elapsed()) })
			start := c.Elapsed()
			pass(d)
			require.Equal(t, start+d, (*rings)[len(*rings)-1])
			pass(time.Second)
		}
		require.Len(t, *rings, len(delays))
	})
}
