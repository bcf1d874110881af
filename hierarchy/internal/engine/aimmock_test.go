package engine

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
	w := newWheel(inline(m, 1, time.Millisecond))
	after(w, 10, func() {})
	fired := false
	m.between = func() { m.Add(10) }
	after(w, 0, func() { fired = true })
	require.Zero(t, w.aim.at)
	_, ok := m.Next()
	require.True(t, ok)
	require.Zero(t, w.aim.at)
	m.Add(0)
	require.True(t, fired)
}

// Callers that read the clock before it moves set timers that are overdue. Those of two
// wheels fire in order of deadline and then of setting, too.
func TestOverdueTimersOfTwoWheels(t *testing.T) {
	m := clock.NewMock()
	v := newWheel(inline(m, 1, time.Millisecond))
	w := newWheel(inline(m, 1, time.Millisecond))
	m.Add(10)
	var fired []string
	for _, timer := range []struct {
		name  string
		wheel *Core[func()]
		due   time.Duration
	}{{"6 of v", v, 6}, {"7 of w", w, 7}, {"8 of v", v, 8}, {"7 of v", v, 7}, {"6 of w", w, 6}, {"6 of v again", v, 6}} {
		const reading = 0
		_, err := timer.wheel.Add(func() { fired = append(fired, timer.name) }, reading, timer.due, 0)
		require.NoError(t, err)
	}
	m.Add(0)
	require.Equal(t, []string{"6 of v", "6 of w", "6 of v again", "7 of w", "7 of v", "8 of v"}, fired)
}

func TestSaturatedTimerSetWhileTheWheelGoesToSleep(t *testing.T) {
	for range 3000 {
		m := clock.NewMock()
		w := newWheel(inline(m, 1, time.Millisecond))
		var fired atomic.Int32
		note := func() { fired.Add(1) }
		after(w, 1, note)
		var setter sync.WaitGroup
		setter.Go(func() { after(w, math.MaxInt64, note) })
		m.Add(1)
		setter.Wait()
		m.Add(math.MaxInt64)
		require.EqualValues(t, 2, fired.Load())
	}
}

// Next can inspect a wheel and aim its alarm while Add does the same.
func TestNextBesideAdd(t *testing.T) {
	m := clock.NewMock()
	w := newWheel(inline(m, 1, time.Millisecond))
	after(w, 1000*time.Hour, func() {})
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
		after(w, 5, func() { fired = true })
		if m.Add(5); !fired {
			missed++
		}
	}
	over.Store(true)
	askers.Wait()
	require.Zero(t, missed)
}
