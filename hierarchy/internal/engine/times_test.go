package engine

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDeadlineAfterSaturates(t *testing.T) {
	require.EqualValues(t, 7, DeadlineAfter(5, 2))
	require.EqualValues(t, 5, DeadlineAfter(5, 0))
	require.EqualValues(t, 5, DeadlineAfter(5, math.MinInt64))
	require.EqualValues(t, EndOfTime, DeadlineAfter(5, math.MaxInt64))
	require.EqualValues(t, EndOfTime, DeadlineAfter(5, math.MaxInt64-5))
	require.EqualValues(t, EndOfTime-1, DeadlineAfter(5, math.MaxInt64-6))
}

// none is later than the end of time, which is a valid deadline.
func TestNoneIsLaterThanTheEndOfTime(t *testing.T) {
	require.Less(t, bound(EndOfTime), none)
	require.Less(t, bound(0), bound(EndOfTime))
}
