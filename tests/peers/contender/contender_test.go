package contender

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestAll sets two timers with each contender, waits for one and stops the other.
func TestAll(t *testing.T) {
	for _, c := range All {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			timers, err := c.Open(Config{Timers: 2, Kept: 2, Interval: c.Fine})
			require.NoError(t, err)
			defer timers.Close()
			ran := make(chan bool)
			require.NoError(t, timers.Set(0, 20*time.Millisecond, func() { close(ran) }))
			require.NoError(t, timers.Set(1, time.Hour, func() { t.Error("a stopped timer ran") }))
			if counter, ok := timers.(Counter); ok {
				require.Equal(t, 2, counter.Len())
			}
			stopped := timers.Stop(1)
			require.True(t, stopped)
			<-ran
		})
	}
}

func TestNamed(t *testing.T) {
	require.Equal(t, "container/heap", Named("heap").Label)
	require.Panics(t, func() { Named("none") })
}

func TestRing(t *testing.T) {
	interval, slots := Config{}.ring()
	require.Equal(t, ringInterval, interval)
	require.Equal(t, ringSlots, slots)
	interval, slots = Config{Interval: time.Minute, Slots: 10}.ring()
	require.Equal(t, time.Minute, interval)
	require.Equal(t, 10, slots)
}
