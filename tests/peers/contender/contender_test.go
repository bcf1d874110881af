package contender

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestAll sets three timers with each contender, waits for one and stops the others.
func TestAll(t *testing.T) {
	for _, c := range All {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			timers, err := c.Open(Config{Timers: 3, Kept: 3, Interval: c.Fine})
			require.NoError(t, err)
			defer timers.Close()
			for i := 1; i <= 2; i++ {
				require.NoError(t, timers.Set(i, time.Hour, func() { t.Error("a stopped timer ran") }))
			}
			if counter, ok := timers.(Counter); ok {
				require.Equal(t, 2, counter.Len())
			}
			ran := make(chan bool)
			require.NoError(t, timers.Set(0, 20*time.Millisecond, func() { close(ran) }))
			require.True(t, timers.Stop(1))
			require.True(t, timers.Stop(2))
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
