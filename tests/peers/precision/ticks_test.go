package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestDurationTicks(t *testing.T) {
	var labels []string
	minor := 0
	for _, tick := range (durationTicks{}).Ticks(float64(leastDrawn), float64(mostDrawn)) {
		if tick.IsMinor() {
			minor++
		} else {
			labels = append(labels, tick.Label)
		}
	}
	require.Equal(t, []string{"100 ns", "1 µs", "10 µs", "100 µs", "1 ms", "10 ms", "100 ms"}, labels)
	require.Equal(t, 6*8, minor, "eight within each power of ten")
}

func TestDurationTicksStayOnTheAxis(t *testing.T) {
	ticks := durationTicks{}.Ticks(250, float64(3*time.Microsecond))
	require.Equal(t, 300.0, ticks[0].Value)
	require.Equal(t, 3000.0, ticks[len(ticks)-1].Value)
}
