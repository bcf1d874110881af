package time

import (
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/compat/internal/process"
)

// whileFiring calls f, with mu held, when the timer that is pending on the mock has been taken
// off the wheel, and its callback waits for mu.
func whileFiring(m *clock.Mock, mu *sync.Mutex, f func()) {
	mu.Lock()
	var all sync.WaitGroup
	all.Go(func() { m.AddNext() })
	for Wheel().Stats().Pending > 0 {
		runtime.Gosched()
	}
	f()
	mu.Unlock()
	all.Wait()
}

func onMock(t *testing.T) *clock.Mock {
	m := clock.NewMock()
	p := process.New(m)
	undo := process.Use(p)
	t.Cleanup(func() {
		undo()
		p.Stop()
	})
	return m
}

// A Timer that is stopped or reset just when it fires sends nothing, and fires again when it
// is set again.
func TestStopOfATimerThatIsFiring(t *testing.T) {
	m := onMock(t)
	timer := NewTimer(Second)
	whileFiring(m, &timer.mu, func() { require.True(t, timer.halt()) })
	require.Empty(t, timer.c)
	require.False(t, timer.Stop())

	require.False(t, timer.Reset(Second))
	whileFiring(m, &timer.mu, func() {
		require.True(t, timer.halt())
		timer.set(Minute)
	})
	require.Empty(t, timer.c)
	m.Add(Minute)
	require.Len(t, timer.c, 1)
	require.Zero(t, timer.stale)
}

// The same for a Ticker.
func TestStopOfATickerThatIsFiring(t *testing.T) {
	m := onMock(t)
	ticker := NewTicker(Second)
	ticks := ticker.ticks
	whileFiring(m, &ticks.mu, ticks.halt)
	require.Empty(t, ticker.c)
	m.Add(Minute)
	require.Empty(t, ticker.c)

	ticker.Reset(Second)
	whileFiring(m, &ticks.mu, ticks.halt)
	ticker.Reset(Minute)
	m.Add(Minute)
	require.Len(t, ticker.c, 1)
	require.Zero(t, ticks.stale)
	ticker.Stop()
}
