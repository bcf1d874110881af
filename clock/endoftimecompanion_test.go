package clock_test

import (
	"math"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
)

// A benbjohnson timer is due at the end of time. Its callback sets a timer of a wheel,
// which sets itself again. Add still returns, as it does without a benbjohnson timer.
// The callback stops after many calls, so the test always ends.
func TestChainThatABenbjohnsonTimerStartsAtTheEndOfTime(t *testing.T) {
	const maxCalls = 4_000
	m := clock.NewMock()
	w := newWheel(t, m, nil)
	var calls atomic.Int32
	var again func()
	again = func() {
		if calls.Add(1) < maxCalls {
			after(t, w, time.Hour, again)
		}
	}
	m.Benbjohnson().AfterFunc(math.MaxInt64, again)
	m.Add(math.MaxInt64)
	require.Less(t, calls.Load(), int32(maxCalls), "Add would never return")
}
