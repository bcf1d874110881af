package hierarchy

import (
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
)

// lateReader is a Mock that calls a function between a reading of the clock and the use
// of that reading.
type lateReader struct {
	*clock.Mock
	between func()
}

func (c *lateReader) Elapsed() time.Duration {
	e, f := c.Mock.Elapsed(), c.between
	if c.between = nil; f != nil {
		f()
	}
	return e
}

// If a caller reads the clock before it moves and sets a timer afterwards, the timer is
// due before the last wake-up. The alarm must be aimed at that deadline, or Add never
// returns.
func TestTimerOfAnEarlierReading(t *testing.T) {
	m := &lateReader{Mock: clock.NewMock()}
	w, err := New(Config{Clock: m})
	require.NoError(t, err)
	_, err = w.AfterFunc(10, func() {})
	require.NoError(t, err)
	fired := false
	m.between = func() { m.Add(10) }
	_, err = w.AfterFunc(0, func() { fired = true })
	require.NoError(t, err)
	require.Zero(t, w.core.aim.at)
	_, ok := m.Next()
	require.True(t, ok)
	require.Zero(t, w.core.aim.at)
	m.Add(0)
	require.True(t, fired)
}

func TestSaturatedTimerSetWhileTheWheelGoesToSleep(t *testing.T) {
	for range 3000 {
		m := clock.NewMock()
		w, err := New(Config{Clock: m})
		require.NoError(t, err)
		var fired atomic.Int32
		note := func() { fired.Add(1) }
		_, err = w.AfterFunc(1, note)
		require.NoError(t, err)
		var setter sync.WaitGroup
		setter.Go(func() { _, _ = w.AfterFunc(math.MaxInt64, note) })
		m.Add(1)
		setter.Wait()
		m.Add(math.MaxInt64)
		require.EqualValues(t, 2, fired.Load())
	}
}

// Next can inspect a wheel and aim its alarm while Add does the same.
func TestNextBesideAdd(t *testing.T) {
	m := clock.NewMock()
	w, err := New(Config{Clock: m})
	require.NoError(t, err)
	_, err = w.AfterFunc(1000*time.Hour, func() {})
	require.NoError(t, err)
	var over atomic.Bool
	var askers sync.WaitGroup
	for range 3 {
		askers.Go(func() {
			for !over.Load() {
				m.Next()
			}
		})
	}
	missed := 0
	for range 20000 {
		fired := false
		_, err := w.AfterFunc(5, func() { fired = true })
		require.NoError(t, err)
		if m.Add(5); !fired {
			missed++
		}
	}
	over.Store(true)
	askers.Wait()
	require.Zero(t, missed)
}
