package hierarchy

import (
	"runtime"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/internal/handclock"
	"github.com/stretchr/testify/require"
)

// If a tick waits for Reset to end, and for a period after that, it counts as the first one of the
// new period.
func TestTickFromBeforeResetThatComesLate(t *testing.T) {
	c := &handclock.Clock{}
	w, err := New(Config{Clock: c})
	require.NoError(t, err)
	tick, err := w.NewTicker(10)
	require.NoError(t, err)
	defer tick.Stop()
	c.Time.Store(10)
	tick.mu.Lock()
	rung := make(chan bool)
	go func() { c.Ring(); close(rung) }()
	for running := false; !running; runtime.Gosched() {
		tick.repeater.mu.Lock()
		running = tick.repeater.running
		tick.repeater.mu.Unlock()
	}
	require.True(t, tick.reset(20))
	c.Time.Store(40)
	tick.mu.Unlock()
	<-rung
	require.Equal(t, time.Unix(0, 30), <-tick.C)
	require.Empty(t, tick.C)
	w.Stop()
}
