package time

import (
	"runtime"
	"testing"
	standard "time"

	"github.com/stretchr/testify/require"
)

// live returns how many bytes are in use.
func live() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Timers and channels that nobody refers to are collected long before they are due.
func TestForgottenTimersAreCollected(t *testing.T) {
	const n = 100_000
	before := live()
	for range n {
		NewTimer(Hour)
		<-NewTimer(0).C
		After(Hour)
		After(Second / 2)
	}
	require.Less(t, live()-before, int64(10*n)) // each takes more than 200 bytes
}

// A Ticker that nobody refers to is collected and no longer watched, stopped or not. While somebody has its channel, it
// ticks.
func TestForgottenTickersAreCollected(t *testing.T) {
	c := NewTicker(Millisecond).C
	for range 10 {
		NewTicker(Second)
		NewTicker(Second).Stop()
	}
	tickers := func() int {
		runtime.GC()
		x := theirs()
		x.mu.Lock()
		defer x.mu.Unlock()
		return len(x.tickers)
	}
	if idleIsLate {
		require.Eventually(t, func() bool { return tickers() == 1 }, standard.Minute, standard.Millisecond)
	}
	for range 3 {
		runtime.GC()
		<-c
	}
	runtime.KeepAlive(c)
	if idleIsLate {
		require.Eventually(t, func() bool { return tickers() == 0 }, standard.Minute, standard.Millisecond)
	}
}

// C may be assigned to. The Ticker goes on with its channel.
func TestTickerWithAnotherChannel(t *testing.T) {
	ticker := NewTicker(Millisecond)
	c := ticker.C
	ticker.C = nil
	runtime.GC()
	<-c
	ticker.Stop()
}
