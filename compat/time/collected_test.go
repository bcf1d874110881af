package time_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/compat/time"
)

// collected runs the garbage collector until nothing is pending on the wheel.
func collected() bool {
	for range 100 {
		runtime.GC()
		if time.Wheel().Stats().Pending == 0 {
			return true
		}
		runtime.Gosched()
		time.Sleep(0)
	}
	return false
}

// A Ticker that nobody refers to is collected, and its timer stops.
func TestForgottenTickerIsCollected(t *testing.T) {
	onMock(t)
	for range 1000 {
		time.NewTicker(time.Hour)
	}
	require.Eventually(t, collected, time.Minute, time.Millisecond)
}

// While somebody has the channel of a Ticker, it ticks.
func TestTickerLivesWithItsChannel(t *testing.T) {
	m := onMock(t)
	c := time.NewTicker(time.Second).C
	for range 5 {
		runtime.GC()
		runtime.GC()
		m.Add(time.Second)
		require.True(t, received(c))
	}
	runtime.KeepAlive(c)
	require.Eventually(t, collected, time.Minute, time.Millisecond)
}

// The channel of a Ticker lives with the Ticker, also if C is assigned to.
func TestTickerWithAnotherChannel(t *testing.T) {
	m := onMock(t)
	ticker := time.NewTicker(time.Second)
	c := ticker.C
	ticker.C = nil
	runtime.GC()
	m.Add(time.Second)
	require.True(t, received(c))
	ticker.Stop()
	require.Zero(t, time.Wheel().Stats().Pending)
}

// A stopped Ticker that is forgotten harms nothing when it is collected.
func TestStoppedTickerIsCollected(t *testing.T) {
	onMock(t)
	for range 10 {
		time.NewTicker(time.Hour).Stop()
	}
	timer := time.NewTimer(time.Hour)
	runtime.GC()
	runtime.GC()
	require.True(t, timer.Stop())
}
