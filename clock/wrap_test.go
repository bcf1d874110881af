package clock_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	benbjohnson "github.com/benbjohnson/clock"
	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
)

func TestWrapReturnsAMockUnchanged(t *testing.T) {
	m := clock.NewMock()
	require.Same(t, m, clock.Wrap(m.Benbjohnson()))
}

func TestClocksAreStringers(t *testing.T) {
	for _, c := range []clock.Clock{
		clock.System(), clock.Precise(), clock.NewMock(),
		clock.Wrap(benbjohnson.New()), clock.Wrap(benbjohnson.NewMock()),
	} {
		s, ok := c.(fmt.Stringer)
		require.True(t, ok, "%T", c)
		require.NotEmpty(t, s.String(), "%T", c)
	}
}

func TestVirtual(t *testing.T) {
	require.True(t, clock.Virtual(clock.NewMock()))
	require.True(t, clock.Virtual(clock.Wrap(benbjohnson.NewMock())))
	require.False(t, clock.Virtual(clock.Wrap(benbjohnson.New())))
	require.False(t, clock.Virtual(clock.System()))
}

// benbjohnson's real clock uses package time, so it is exact in a bubble.
func TestWrapRealClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clock.Wrap(benbjohnson.New())
		w := newWheel(t, c, nil)
		var fired []time.Duration
		note := func() { fired = append(fired, c.Elapsed()) }
		after(t, w, time.Second+1, note)
		after(t, w, time.Hour, note)
		stopped := after(t, w, time.Minute, note)
		pass(time.Second)
		require.True(t, stopped.Stop())
		pass(2 * time.Hour)
		require.Equal(t, []time.Duration{time.Second + 1, time.Hour}, fired)
	})
}

// benbjohnson's Mock runs callbacks in goroutines of their own, so the test waits for them.
func TestWrapMock(t *testing.T) {
	inner := benbjohnson.NewMock()
	c := clock.Wrap(inner)
	w := newWheel(t, c, nil)
	fired := make(chan time.Duration, 2)
	note := func() { fired <- c.Elapsed() }
	after(t, w, time.Minute, note)
	after(t, w, time.Hour, note)
	inner.Add(time.Minute - 1)
	require.Empty(t, fired)
	inner.Add(1)
	require.Equal(t, time.Minute, <-fired)
	require.Empty(t, fired)
	for w.Len() > 0 { // the wheel aims its alarm in its own goroutine
		inner.Add(time.Minute)
	}
	require.GreaterOrEqual(t, <-fired, time.Hour)
}

func TestWrapMockAlarm(t *testing.T) {
	inner, rings := benbjohnson.NewMock(), make(chan time.Duration, 1)
	inner.Add(time.Hour) // elapsed time begins with Wrap
	c := clock.Wrap(inner)
	require.Zero(t, c.Elapsed())
	alarm := c.NewAlarm(func() { rings <- c.Elapsed() })
	alarm.Stop()
	alarm.Set(time.Minute)
	alarm.Set(time.Hour)
	inner.Add(time.Minute)
	require.Empty(t, rings)
	alarm.Set(2 * time.Minute)
	alarm.Stop()
	inner.Add(time.Hour)
	require.Empty(t, rings)
	alarm.Set(2 * time.Hour)
	inner.Add(time.Hour)
	require.GreaterOrEqual(t, <-rings, 2*time.Hour)
}

func TestWrapElapsedNeverGoesBack(t *testing.T) {
	inner := benbjohnson.NewMock()
	c := clock.Wrap(inner)
	start := c.Now()
	var last time.Duration
	for _, at := range []time.Duration{5, 3, 10, 0, -7, 9, 11} {
		inner.Set(start.Add(at))
		require.True(t, c.Now().Equal(start.Add(at)))
		require.GreaterOrEqual(t, c.Elapsed(), last)
		last = c.Elapsed()
	}
	require.GreaterOrEqual(t, last, time.Duration(11))
}
