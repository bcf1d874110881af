package time_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/compat/time"
)

// Sleep never returns early, alone or in a crowd, and at once if there is nothing to wait for.
func TestSleepIsNeverEarly(t *testing.T) {
	for _, d := range []time.Duration{-1 << 63, -1, 0, 1, time.Microsecond, time.Millisecond, 1700 * time.Microsecond} {
		for range 10 {
			start := time.Now()
			time.Sleep(d)
			require.GreaterOrEqual(t, time.Since(start), d)
		}
	}
}
