package wheelclock_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/compat/adapters/internal/wheelclock"
	"github.com/epicycle-go/epicycle/hierarchy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// full returns a clock on a wheel with no place left.
func full(t *testing.T, cfg hierarchy.Config) (wheelclock.Clock, *hierarchy.Wheel, *clock.Mock) {
	m := clock.NewMock()
	cfg.Clock, cfg.MaxPending = m, 1
	w, err := hierarchy.New(cfg)
	require.NoError(t, err)
	t.Cleanup(w.Stop)
	_, err = w.AfterFunc(1000*time.Hour, func() {})
	require.NoError(t, err)
	return wheelclock.New(w, "test"), w, m
}

// has returns the time in c, since the Unix epoch, or -1.
func has(c <-chan time.Time) time.Duration {
	select {
	case at := <-c:
		return at.Sub(time.Unix(0, 0))
	default:
		return -1
	}
}

func TestExtraTimer(t *testing.T) {
	c, w, m := full(t, hierarchy.Config{})
	timer := c.NewTimer(time.Minute)
	require.True(t, timer.Reset(time.Hour))
	m.Add(time.Hour - 1)
	require.EqualValues(t, -1, has(timer.C))
	m.Add(1)
	require.Equal(t, time.Hour, has(timer.C))
	require.False(t, timer.Stop())
	require.False(t, timer.Reset(time.Hour))
	require.True(t, timer.Stop())
	require.False(t, timer.Stop())
	m.Add(time.Hour)
	require.EqualValues(t, -1, has(timer.C))

	require.False(t, timer.Reset(time.Second))
	m.Add(time.Second)
	require.True(t, timer.Stop()) // its value was not received
	require.EqualValues(t, -1, has(timer.C))

	require.False(t, timer.Reset(0))
	m.Add(0)
	require.True(t, timer.Reset(time.Second))
	require.EqualValues(t, -1, has(timer.C))
	require.Equal(t, 2, w.Len())
	w.Stop()
	require.False(t, timer.Stop())
	require.False(t, timer.Reset(0))
	m.Add(time.Hour)
	require.EqualValues(t, -1, has(timer.C))
}

func TestExtraTicker(t *testing.T) {
	c, w, m := full(t, hierarchy.Config{})
	ticker := c.NewTicker(time.Minute)
	for minute := range time.Duration(3) {
		m.Add(time.Minute)
		require.Equal(t, (minute+1)*time.Minute, has(ticker.C))
	}
	m.Add(150 * time.Second) // the tick at 5 minutes is dropped
	require.Equal(t, 4*time.Minute, has(ticker.C))
	m.Add(30 * time.Second)
	require.Equal(t, 6*time.Minute, has(ticker.C))
	ticker.Reset(time.Hour)
	m.Add(time.Hour)
	require.Equal(t, 66*time.Minute, has(ticker.C))
	m.Add(time.Hour)
	ticker.Stop()
	m.Add(time.Hour)
	require.EqualValues(t, -1, has(ticker.C))
	require.Equal(t, 1, w.Len())
	ticker.Reset(time.Hour)
	m.Add(time.Hour)
	require.Equal(t, 246*time.Minute, has(ticker.C))
	w.Stop()
	ticker.Reset(time.Hour)
	m.Add(time.Hour)
	require.EqualValues(t, -1, has(ticker.C))
}

// A ticker that was stopped starts again, also if the wheel is full by then.
func TestTickerStartsAgainOnAFullWheel(t *testing.T) {
	m := clock.NewMock()
	w, err := hierarchy.New(hierarchy.Config{Clock: m, MaxPending: 1})
	require.NoError(t, err)
	defer w.Stop()
	ticker := wheelclock.New(w, "test").NewTicker(time.Minute)
	ticker.Stop()
	_, err = w.AfterFunc(time.Hour, func() {})
	require.NoError(t, err)
	ticker.Reset(time.Minute)
	m.Add(time.Minute)
	require.Equal(t, time.Minute, has(ticker.C))
}

// When the wall clock is set, a tick may come early once. None is missing, or comes twice.
func TestExtraTickerWhileTheWallClockJumps(t *testing.T) {
	for jump, early := range map[time.Duration]time.Duration{
		time.Hour: 0, -time.Hour: 0, 90 * time.Second: 30 * time.Second, -80 * time.Second: 40 * time.Second,
	} {
		c, w, m := full(t, hierarchy.Config{})
		ticker := c.NewTicker(time.Minute)
		m.Jump(jump)
		for n := range time.Duration(3) {
			at := (n + 1) * time.Minute
			if n > 0 {
				at -= early
			}
			m.AddNext()
			require.Equal(t, at, m.Elapsed(), "jump %v", jump)
			require.Equal(t, at+jump, has(ticker.C), "jump %v", jump)
		}
		require.EqualValues(t, 3, w.Stats().Fired)
	}
}

// An executor may call the task of a timer after the timer was stopped or reset. Then that
// task sends nothing.
func TestExtraOnASlowExecutor(t *testing.T) {
	tasks := make(chan func(), 8)
	c, _, m := full(t, hierarchy.Config{Executor: func(task func()) { tasks <- task }})
	during := func(d time.Duration, change func()) {
		added := make(chan struct{})
		go func() {
			defer close(added)
			m.Add(d)
		}()
		task := <-tasks // the mock waits for it
		change()
		task()
		<-added
	}
	timer := c.NewTimer(time.Second)
	during(time.Second, func() { require.True(t, timer.Stop()) })
	require.EqualValues(t, -1, has(timer.C))

	require.False(t, timer.Reset(time.Second))
	during(time.Second, func() { require.True(t, timer.Reset(time.Hour)) })
	require.EqualValues(t, -1, has(timer.C))
	during(time.Hour, func() {})
	require.Equal(t, time.Hour+2*time.Second, has(timer.C))

	ticker := c.NewTicker(time.Second)
	during(time.Second, ticker.Stop)
	require.EqualValues(t, -1, has(ticker.C))
	require.Empty(t, tasks)
}
