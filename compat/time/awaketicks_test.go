package time

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The process is woken for each tick, until the Ticker is stopped.
func TestAwakeForTicks(t *testing.T) {
	x, c := onHandClock()
	start := c.elapsed
	var a, b ticks
	x.watch(&a, 10*Millisecond)
	x.watch(&b, 25*Millisecond)
	c.moveTo(start + 31*Millisecond)
	require.Equal(t, []Duration{start + 10*Millisecond, start + 20*Millisecond, start + 25*Millisecond, start + 30*Millisecond}, c.taken())
	x.forget(&a)
	x.watch(&b, Millisecond)
	c.moveTo(start + 33*Millisecond)
	require.Equal(t, []Duration{start + 32*Millisecond, start + 33*Millisecond}, c.taken())
	x.forget(&b)
	x.forget(&b)
	c.moveTo(start + Hour)
	require.LessOrEqual(t, len(c.taken()), 1, "of what was aimed at before")
	require.Empty(t, x.tickers)
}

// The gap after one tick does not delay another one, if the process was woken in between.
func TestTickAfterATimer(t *testing.T) {
	x, c := onHandClock()
	start := c.elapsed
	x.watch(new(ticks), Millisecond)
	x.set(900 * Microsecond)
	x.set(1100 * Microsecond)
	c.moveTo(start + 1500*Microsecond)
	require.Equal(t, []Duration{start + 900*Microsecond, start + Millisecond, start + 1100*Microsecond}, c.taken())
	require.Equal(t, start+2*Millisecond, c.aim)
}

// Short periods do not keep a processor busy, and a period may be as long as a Duration can be.
func TestAwakeForTicksOfAnyPeriod(t *testing.T) {
	x, c := onHandClock()
	start := c.elapsed
	x.watch(new(ticks), Nanosecond)
	x.watch(new(ticks), 1<<63-1)
	require.Len(t, x.tickers, 1)
	c.moveTo(start + 100*gap)
	require.LessOrEqual(t, len(c.taken()), 101)
}

// No more than some Tickers are watched.
func TestManyTickersAreNotWatched(t *testing.T) {
	x, _ := onHandClock()
	for range 10 * mostTickers {
		x.watch(new(ticks), Second)
	}
	require.Len(t, x.tickers, mostTickers)
}

// Timers, Tickers and sleepers add and remove their times.
func TestWhatIsWatched(t *testing.T) {
	if !idleIsLate {
		t.Skip("the runtime's timers are as exact as any")
	}
	timer := NewTimer(Second / 2)
	for timer.at.Load() == 0 { // as in the crowd of another test
		Sleep(Millisecond)
		timer.Reset(Second / 2)
	}
	timer.Stop()
	require.Zero(t, timer.at.Load())
	for timer.Reset(Second / 2); timer.at.Load() == 0; timer.Reset(Second / 2) {
		Sleep(Millisecond)
	}
	timer.Reset(Hour)
	require.Zero(t, timer.at.Load())
	timer.Stop()

	ticker := NewTicker(Second)
	isWatched := func() bool {
		x := theirs()
		x.mu.Lock()
		defer x.mu.Unlock()
		return len(x.tickers) > 0 && x.tickers[len(x.tickers)-1] == ticker.ticks
	}
	require.True(t, isWatched())
	ticker.Stop()
	require.False(t, isWatched())
	ticker.Reset(Second)
	require.True(t, isWatched())
	ticker.Reset(Hour)
	require.False(t, isWatched())
	ticker.Stop()
}
