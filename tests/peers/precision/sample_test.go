package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestDistribution(t *testing.T) {
	require.Equal(t, []step[int]{{3, 0}, {3, 25}, {4, 50}, {6, 75}, {9, 100}},
		distribution([]int{3, 4, 6, 9}, 200), "each value is a step")
	require.Equal(t, []step[int]{{1, 0}, {2, 40}, {5, 100}},
		distribution([]int{1, 2, 3, 4, 5}, 2), "no more steps than asked for")
	require.Equal(t, []step[int]{{8, 0}, {8, 100}}, distribution([]int{8}, 200))
}

func TestShare(t *testing.T) {
	for _, n := range []int{0, 1, 4, 5, 6, 199} {
		sum := 0
		for i := range 5 {
			part := share(n, 5, i)
			require.InDelta(t, float64(n)/5, part, 1, "part %d of %d", i, n)
			sum += part
		}
		require.Equal(t, n, sum)
	}
}

func TestSomeDelays(t *testing.T) {
	delays := someDelays(1, 1000)
	require.Len(t, delays, 1000)
	for _, d := range delays {
		require.GreaterOrEqual(t, d, shortestDelay)
		require.Less(t, d, longestDelay)
		require.NotZero(t, d%time.Millisecond)
	}
	require.Equal(t, delays, someDelays(1, 1000), "same seed, same delays")
	require.NotEqual(t, delays, someDelays(2, 1000))
}
