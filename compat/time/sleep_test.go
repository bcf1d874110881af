package time_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/compat/time"
)

func TestSleep(t *testing.T) {
	m := onMock(t)
	for _, d := range []time.Duration{0, -1, -time.Hour} {
		time.Sleep(d)
	}
	require.Zero(t, time.Wheel().Stats().Scheduled)
	const n = 100
	awake := make(chan time.Duration, n)
	for i := range n {
		go func() {
			time.Sleep(time.Duration(i+1) * time.Second)
			awake <- time.Duration(i+1) * time.Second
		}()
	}
	require.NoError(t, m.WaitFor(t.Context(), n))
	for i := range n {
		m.Add(time.Second - 1)
		require.Empty(t, awake)
		m.Add(1)
		require.Equal(t, time.Duration(i+1)*time.Second, <-awake)
	}
}

// Sleep never returns early on the real clock.
func TestSleepIsNeverEarly(t *testing.T) {
	for _, d := range []time.Duration{1, time.Microsecond, time.Millisecond, 1700 * time.Microsecond} {
		start := time.Now()
		time.Sleep(d)
		require.GreaterOrEqual(t, time.Since(start), d)
	}
}
