package hierarchy_test

import (
	"context"
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

func TestChanTimerStopWhileItFires(t *testing.T) {
	w := newWheel(t, hierarchy.Config{Clock: clock.System(), Precision: time.Microsecond})
	for i := range 100000 {
		timer, err := w.NewTimer(time.Duration(i % 30 * 100))
		require.NoError(t, err)
		for range i % 1000 {
			runtime.KeepAlive(timer)
		}
		require.True(t, timer.Stop(), "nobody received, %d", i)
	}
}

// lateDone is a context that lets something happen just before Sleep waits.
type lateDone struct {
	context.Context
	happen func()
}

func (c lateDone) Done() <-chan struct{} { c.happen(); return c.Context.Done() }

func TestSleepThatIsOver(t *testing.T) {
	for range 100 {
		w, m := onMock(t, hierarchy.Config{})
		ctx, cancel := context.WithCancel(t.Context())
		require.NoError(t, w.Sleep(lateDone{ctx, func() { m.Add(time.Second); w.Stop(); cancel() }}, time.Second))
	}
}

// A clock may come to the end of time: the wheel fires what is due and sleeps.
func TestWakeAtTheEndOfTime(t *testing.T) {
	c := &endedClock{Clock: clock.System()}
	w := newWheel(t, hierarchy.Config{Clock: c, Executor: hierarchy.Inline})
	fired := false
	_, err := w.AfterFunc(time.Second, func() { fired = true })
	require.NoError(t, err)
	c.elapsed = math.MaxInt64
	c.ring()
	require.True(t, fired)
}

// endedClock is a clock whose time is set by hand, and whose alarm is rung so.
type endedClock struct {
	clock.Clock
	elapsed time.Duration
	ring    func()
}

func (c *endedClock) Elapsed() time.Duration { return c.elapsed }

func (c *endedClock) NewAlarm(ring func()) clock.Alarm {
	c.ring = ring
	return c.Clock.NewAlarm(func() {})
}
