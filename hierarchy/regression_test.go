package hierarchy_test

import (
	"context"
	"math"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

func TestRepeaterResetBetweenHandOverAndStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := onSystem(t, hierarchy.Config{Executor: hierarchy.Pool(1)})
		start := time.Now()
		_, err := w.AfterFunc(0, func() { time.Sleep(2 * time.Second) })
		require.NoError(t, err)
		var begun []time.Duration
		r := every(t, w, time.Second, func() { begun = append(begun, time.Since(start)) })
		pass(1500 * time.Millisecond)
		require.True(t, r.Reset(10*time.Second))
		pass(10500 * time.Millisecond)
		require.Equal(t, []time.Duration{11500 * time.Millisecond}, begun)
	})
}

func TestScheduleThatPanics(t *testing.T) {
	w, m := onMock(t, hierarchy.Config{MaxPending: 1, OnPanic: func(any, []byte) {}})
	runs := 0
	r := schedule(t, w, planned(func(now time.Time) time.Time {
		if runs == 1 {
			panic("oh")
		}
		return now.Add(time.Second)
	}), func() { runs++ })
	m.Add(time.Minute)
	require.EqualValues(t, 1, w.Stats().Panics)
	if r.Reset(time.Second) {
		m.Add(time.Second)
		require.Equal(t, 2, runs, "Reset was true")
	} else {
		require.Zero(t, w.Len(), "it has ended")
	}
}

func TestRepeaterAtTheEndOfTime(t *testing.T) {
	w, m := onMock(t, hierarchy.Config{})
	runs := 0
	var r *hierarchy.Repeater
	r = every(t, w, math.MaxInt64/2+1, func() {
		if runs++; runs == 10 {
			r.Stop() // else Add would never return
		}
	})
	m.Add(math.MaxInt64)
	require.LessOrEqual(t, runs, 2)
}

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
