package chart

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestDurationTicks(t *testing.T) {
	var labels []string
	minor := 0
	for _, tick := range DurationTicks.Ticks(100, float64(100*time.Millisecond)) {
		if tick.IsMinor() {
			minor++
		} else {
			labels = append(labels, tick.Label)
		}
	}
	require.Equal(t, []string{"100 ns", "1 µs", "10 µs", "100 µs", "1 ms", "10 ms", "100 ms"}, labels)
	require.Equal(t, 6*8, minor, "there must be eight between two powers of ten")
}

func TestTicksStayOnTheAxis(t *testing.T) {
	ticks := DurationTicks.Ticks(250, float64(3*time.Microsecond))
	require.Equal(t, 300.0, ticks[0].Value)
	require.Equal(t, 3000.0, ticks[len(ticks)-1].Value)
}

func TestCountTicks(t *testing.T) {
	ticks := CountTicks.Ticks(1, 10_000)
	require.Equal(t, "1", ticks[0].Label)
	require.Equal(t, "10k", ticks[len(ticks)-1].Label)
}

func TestDecades(t *testing.T) {
	require.Equal(t, 10.0, Below(99))
	require.Equal(t, 100.0, Above(99))
	require.Equal(t, 100.0, Below(100))
	require.Equal(t, 100.0, Above(100))
}
