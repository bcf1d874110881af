package time_test

import (
	"testing"
	standard "time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/compat/time"
)

func TestTicker(t *testing.T) {
	m := onMock(t)
	ticker := time.NewTicker(time.Second)
	for range 3 {
		m.Add(time.Second - 1)
		require.False(t, received(ticker.C))
		m.Add(1)
		require.True(t, received(ticker.C))
	}
	m.Add(10 * time.Second) // ticks that are not received are dropped
	require.True(t, received(ticker.C))
	require.False(t, received(ticker.C))

	m.Add(time.Second)
	ticker.Stop()
	require.False(t, received(ticker.C), "a tick from before Stop")
	m.Add(time.Minute)
	require.False(t, received(ticker.C))
	require.Zero(t, time.Wheel().Stats().Pending)
	ticker.Stop()
}

func TestTickerReset(t *testing.T) {
	m := onMock(t)
	ticker := time.NewTicker(time.Second)
	m.Add(time.Second)
	ticker.Reset(time.Minute)
	require.False(t, received(ticker.C), "a tick from before Reset")
	for range 2 {
		m.Add(time.Minute - 1)
		require.False(t, received(ticker.C))
		m.Add(1)
		require.True(t, received(ticker.C))
	}
	ticker.Stop()
	ticker.Reset(time.Hour)
	m.Add(time.Hour)
	require.True(t, received(ticker.C))
	require.Equal(t, 1, time.Wheel().Stats().Pending)
	ticker.Stop()
}

// A period may be as long as a Duration can be.
func TestTickerAtTheEndOfTime(t *testing.T) {
	m := onMock(t)
	m.Add(time.Hour)
	ticker := time.NewTicker(1<<63 - 1)
	defer ticker.Stop()
	m.Add(time.Hour)
	require.False(t, received(ticker.C))
	ticker.Reset(time.Second)
	m.Add(time.Second)
	require.True(t, received(ticker.C))
}

// Bad calls panic as those of package time do, and a Stop of a zero Ticker does not.
func TestTickerPanics(t *testing.T) {
	for _, d := range []time.Duration{0, -1} {
		requirePanics(t, func() { standard.NewTicker(d) }, func() { time.NewTicker(d) })
		requirePanics(t, func() { new(standard.Ticker).Reset(d) }, func() { new(time.Ticker).Reset(d) })
	}
	requirePanics(t, func() { new(standard.Ticker).Reset(1) }, func() { new(time.Ticker).Reset(1) })
	new(time.Ticker).Stop()
}
