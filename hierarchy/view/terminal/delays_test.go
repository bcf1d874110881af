package terminal

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestDelays(t *testing.T) {
	require.Zero(t, Delays(nil).Quantile(0.5))
	l := Delays{10, -3, 0, 20, 30, 80, 40, 50, 60, 70}
	l.Sort()
	require.Equal(t, time.Duration(-3), l.Quantile(0))
	require.Equal(t, time.Duration(40), l.Quantile(0.5))
	require.Equal(t, time.Duration(80), l.Quantile(0.99))
	require.Equal(t, time.Duration(80), l.Quantile(1))
	require.Equal(t, 1, l.Within(-1<<63, 0))
	require.Equal(t, 1, l.Within(0, 10))
	require.Equal(t, 2, l.Within(10, 30))
}

// TestClasses checks that each delay belongs to exactly one line of a histogram.
func TestClasses(t *testing.T) {
	classes := Classes(10*time.Microsecond, 2*time.Millisecond)
	require.Equal(t, []string{"below 10" + NoBreak + "µs", "to 2" + NoBreak + "ms", "more"},
		[]string{classes[0].Name, classes[1].Name, classes[2].Name})
	for _, d := range []time.Duration{0, 1, 10_000, 9_999, time.Millisecond, time.Hour, math.MaxInt64 - 1} {
		lines := 0
		for _, c := range classes {
			require.Less(t, c.From, c.Limit)
			lines += Delays{d}.Within(c.From, c.Limit)
		}
		require.Equal(t, 1, lines, "%v", d)
	}
}

func TestSome(t *testing.T) {
	require.Equal(t, "", Some(0))
	require.Equal(t, "1,000", Some(1000))
}
