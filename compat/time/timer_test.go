package time_test

import (
	"testing"
	standard "time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/compat/time"
)

func TestTimerFiresOnce(t *testing.T) {
	m := onMock(t)
	timer := time.NewTimer(time.Second)
	m.Add(time.Second - 1)
	require.False(t, received(timer.C))
	m.Add(1)
	require.True(t, received(timer.C))
	m.Add(time.Hour)
	require.False(t, received(timer.C))
	require.False(t, timer.Stop())
	require.False(t, timer.Reset(time.Second))
	m.Add(time.Second)
	require.True(t, received(timer.C))
}

// After Stop or Reset nothing from before is received, and both are true while a value was
// not received.
func TestTimerHasNoStaleValue(t *testing.T) {
	m := onMock(t)
	timer := time.NewTimer(time.Second)
	m.Add(time.Second)
	require.True(t, timer.Stop())
	require.False(t, received(timer.C))
	require.False(t, timer.Stop())

	require.False(t, timer.Reset(time.Second))
	m.Add(time.Second)
	require.True(t, timer.Reset(time.Minute))
	require.False(t, received(timer.C))
	require.True(t, timer.Reset(time.Hour), "pending")
	m.Add(time.Hour - 1)
	require.False(t, received(timer.C))
	m.Add(1)
	require.True(t, received(timer.C))
}

// What is due now is there when the call returns.
func TestTimerDueNow(t *testing.T) {
	m := onMock(t)
	for _, d := range []time.Duration{0, -1, -time.Hour} {
		timer := time.NewTimer(d)
		m.Add(0)
		require.True(t, received(timer.C))
		require.False(t, timer.Reset(d))
		m.Add(0)
		require.True(t, timer.Reset(d), "the value was not received")
		m.Add(0)
		require.True(t, received(timer.C))
		timer.Reset(time.Hour)
		require.True(t, timer.Reset(d), "pending")
		m.Add(0)
		require.True(t, received(timer.C))
		m.Add(2 * time.Hour)
		require.False(t, received(timer.C))
	}
}

func TestAfterFunc(t *testing.T) {
	m := onMock(t)
	runs := 0
	timer := time.AfterFunc(time.Second, func() { runs++ })
	require.Nil(t, timer.C)
	require.True(t, timer.Reset(time.Minute))
	m.Add(time.Minute - 1)
	require.Zero(t, runs)
	m.Add(1)
	require.Equal(t, 1, runs)
	require.False(t, timer.Stop())
	require.False(t, timer.Reset(time.Second))
	m.Add(time.Second)
	require.Equal(t, 2, runs)
	require.False(t, timer.Reset(time.Second))
	require.True(t, timer.Stop())
	require.False(t, timer.Stop())
	m.Add(time.Hour)
	require.Equal(t, 2, runs)
}

// A function that sets its own timer again runs again and again.
func TestAfterFuncResetsItself(t *testing.T) {
	m := onMock(t)
	var at []time.Duration
	var timer *time.Timer
	timer = time.AfterFunc(time.Second, func() {
		if at = append(at, m.Elapsed()); len(at) < 3 {
			timer.Reset(time.Minute)
		}
	})
	m.Add(time.Hour)
	require.Equal(t, []time.Duration{time.Second, 61 * time.Second, 121 * time.Second}, at)
}

// A zero Timer panics as one of package time does.
func TestZeroTimerPanics(t *testing.T) {
	requirePanics(t, func() { new(standard.Timer).Stop() }, func() { new(time.Timer).Stop() })
	requirePanics(t, func() { new(standard.Timer).Reset(1) }, func() { new(time.Timer).Reset(1) })
}

// C may be assigned to, as package time's tests do.
func TestTimerWithAnotherChannel(t *testing.T) {
	m := onMock(t)
	other := make(chan time.Time, 1)
	timer := time.NewTimer(time.Second)
	timer.C = other
	m.Add(time.Second)
	require.True(t, timer.Stop())

	f := time.AfterFunc(time.Second, func() { other <- time.Time{} })
	f.C = other
	m.Add(time.Second)
	require.False(t, f.Stop())
	require.True(t, received(other))
}
