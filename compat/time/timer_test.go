package time_test

import (
	"runtime"
	"testing"
	standard "time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/compat/time"
)

// The channels are lazy: what is due is there when one looks, although no other goroutine of the process has run.
func TestChannelsThatArePolled(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const n = 20
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	for range n {
		timer, start := time.NewTimer(time.Millisecond), time.Now()
		for time.Since(start) < 2*time.Millisecond { // without a call that lets others run
		}
		require.True(t, received(timer.C))
		require.True(t, received(ticker.C))
		require.False(t, timer.Stop())
	}
	for _, c := range []<-chan time.Time{ticker.C, time.After(0), time.NewTimer(0).C} {
		require.Zero(t, cap(c))
		require.Zero(t, len(c))
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

// Bad calls panic as those of package time do, and a Stop of a zero Ticker does not.
func TestPanics(t *testing.T) {
	requirePanics(t, func() { new(standard.Timer).Stop() }, func() { new(time.Timer).Stop() })
	requirePanics(t, func() { new(standard.Timer).Reset(1) }, func() { new(time.Timer).Reset(1) })
	for _, d := range []time.Duration{0, -1} {
		requirePanics(t, func() { standard.NewTicker(d) }, func() { time.NewTicker(d) })
		requirePanics(t, func() { new(standard.Ticker).Reset(d) }, func() { new(time.Ticker).Reset(d) })
		theirs, ours := standard.NewTicker(1), time.NewTicker(1)
		requirePanics(t, func() { theirs.Reset(d) }, func() { ours.Reset(d) })
		theirs.Stop()
		ours.Stop()
	}
	requirePanics(t, func() { new(standard.Ticker).Reset(1) }, func() { new(time.Ticker).Reset(1) })
	new(time.Ticker).Stop()
}

// C may be assigned to, as package time's tests do.
func TestTimerWithAnotherChannel(t *testing.T) {
	m := onMock(t)
	other := make(chan time.Time, 1)
	timer := time.NewTimer(time.Hour)
	timer.C = other
	require.True(t, timer.Stop())

	f := time.AfterFunc(time.Second, func() { other <- time.Time{} })
	f.C = other
	m.Add(time.Second)
	require.False(t, f.Stop())
	require.True(t, received(other))
}
