package adaptertest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy"
)

// mockTimers requires that timers fire at their deadlines and in order, inside Add.
func (a Adapter) mockTimers(t *testing.T) {
	c, w, m := a.onMock(t, hierarchy.Config{})
	require.Equal(t, time.Unix(0, 0).UTC(), c.Now())
	timer, after := c.NewTimer(2*time.Hour), c.After(time.Hour+1)
	var calls []time.Duration
	call := func() { calls = append(calls, c.Since(time.Unix(0, 0))) }
	again := c.AfterFunc(3*time.Hour, call)
	c.AfterFunc(time.Hour, call)
	require.Equal(t, 4, w.Len())

	m.Add(time.Hour)
	require.Equal(t, []time.Duration{time.Hour}, calls)
	require.EqualValues(t, -1, received(after))
	m.Add(1)
	require.Equal(t, time.Hour+1, received(after))
	m.Add(time.Hour - 2)
	require.EqualValues(t, -1, received(timer.Chan()))
	m.Add(1)
	require.Equal(t, 2*time.Hour, received(timer.Chan()))
	require.True(t, again.Reset(10*time.Hour))
	m.Add(10 * time.Hour)
	require.False(t, again.Reset(time.Second))
	m.Add(time.Minute)
	require.Equal(t, []time.Duration{time.Hour, 12 * time.Hour, 12*time.Hour + time.Second}, calls)

	require.False(t, timer.Reset(0))
	require.EqualValues(t, -1, received(timer.Chan()))
	m.Add(0)
	require.Equal(t, 12*time.Hour+time.Minute, received(timer.Chan()))
}

func (a Adapter) mockTickers(t *testing.T) {
	c, w, m := a.onMock(t, hierarchy.Config{})
	ticker := c.NewTicker(time.Minute)
	for minute := range time.Duration(5) {
		m.Add(time.Minute)
		require.Equal(t, (minute+1)*time.Minute, received(ticker.C))
	}
	m.Add(150 * time.Second) // the tick at 7 minutes is dropped
	require.Equal(t, 6*time.Minute, received(ticker.C))
	m.Add(30 * time.Second)
	require.Equal(t, 8*time.Minute, received(ticker.C))
	m.Add(time.Minute)
	ticker.Stop()
	m.Add(time.Hour)
	require.EqualValues(t, -1, received(ticker.C))
	require.Zero(t, w.Len())
	if ticker.Reset == nil {
		return
	}
	ticker.Reset(time.Second)
	m.Add(time.Second)
	require.Equal(t, 69*time.Minute+time.Second, received(ticker.C))
	m.Add(time.Second)
	ticker.Reset(time.Hour)
	require.EqualValues(t, -1, received(ticker.C))
	m.Add(time.Hour)
	require.Equal(t, 129*time.Minute+2*time.Second, received(ticker.C))
}

func (a Adapter) mockSleep(t *testing.T) {
	c, _, m := a.onMock(t, hierarchy.Config{})
	woke := make(chan time.Time)
	go func() {
		c.Sleep(24 * time.Hour)
		woke <- c.Now()
	}()
	require.NoError(t, m.WaitFor(t.Context(), 1))
	m.Add(24*time.Hour - 1)
	next, ok := m.Next()
	require.True(t, ok)
	require.EqualValues(t, 1, next)
	m.Add(1)
	require.Equal(t, m.Now(), <-woke)
	c.Sleep(0)
	c.Sleep(-1)
}

// executor requires that functions run where the wheel's callbacks do, and that channels are
// served without the executor.
func (a Adapter) executor(t *testing.T) {
	tasks := make(chan func(), 8)
	c, _, m := a.onMock(t, hierarchy.Config{Executor: func(task func()) { tasks <- task }})
	called := false
	c.AfterFunc(time.Second, func() { called = true })
	timer, ticker, after := c.NewTimer(2*time.Second), c.NewTicker(2*time.Second), c.After(2*time.Second)

	added := make(chan struct{})
	go func() {
		defer close(added)
		m.Add(2 * time.Second)
	}()
	task := <-tasks // the mock waits for it
	require.False(t, called)
	task()
	require.True(t, called)
	<-added
	require.Empty(t, tasks)
	require.Equal(t, 2*time.Second, received(timer.Chan()))
	require.Equal(t, 2*time.Second, received(ticker.C))
	require.Equal(t, 2*time.Second, received(after))
}
