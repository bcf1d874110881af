package timers

import (
	"context"
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/tests/internal/wheeltest"
)

func TestChanTimerStopWhileItFires(t *testing.T) {
	w := wheeltest.New(t, hierarchy.Config{Clock: clock.System(), Precision: time.Microsecond})
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
		w, m := wheeltest.OnMock(t, hierarchy.Config{})
		ctx, cancel := context.WithCancel(t.Context())
		require.NoError(t, w.Sleep(lateDone{ctx, func() { m.Add(time.Second); w.Stop(); cancel() }}, time.Second))
	}
}

// A clock may come to the end of time: the wheel fires what is due and sleeps.
func TestWakeAtTheEndOfTime(t *testing.T) {
	c := &wheeltest.LateClock{}
	w := wheeltest.New(t, hierarchy.Config{Clock: c, Executor: hierarchy.Inline})
	fired := false
	_, err := w.AfterFunc(time.Second, func() { fired = true })
	require.NoError(t, err)
	c.Time = math.MaxInt64
	c.Ring()
	require.True(t, fired)
}
