package adaptertest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy"
)

// full requires that all timers are set although the wheel is full.
func (a Adapter) full(t *testing.T) {
	c, w, m := a.onMock(t, hierarchy.Config{MaxPending: 1})
	keep, err := w.AfterFunc(24*time.Hour, func() {})
	require.NoError(t, err)

	called := 0
	timer, after := c.NewTimer(time.Second), c.After(2*time.Second)
	f := c.AfterFunc(time.Second, func() { called++ })
	ticker := c.NewTicker(time.Second)
	require.Equal(t, 5, w.Len())
	_, err = w.AfterFunc(time.Second, func() {})
	require.ErrorIs(t, err, hierarchy.ErrFull) // callers that can get an error still get it

	m.Add(time.Second)
	require.Equal(t, time.Second, received(timer.Chan()))
	require.Equal(t, time.Second, received(ticker.C))
	require.Equal(t, 1, called)
	m.Add(time.Second)
	require.Equal(t, 2*time.Second, received(after))
	require.False(t, timer.Reset(time.Second))
	require.False(t, f.Reset(time.Second))
	m.Add(time.Second)
	require.Equal(t, 3*time.Second, received(timer.Chan()))
	require.Equal(t, 2, called)
	ticker.Stop()
	require.Equal(t, 1, w.Len())
	require.True(t, keep.Stop())
	_, err = w.AfterFunc(time.Second, func() {})
	require.NoError(t, err) // no place is lost
}

func (a Adapter) fullSleep(t *testing.T) {
	c, w, m := a.onMock(t, hierarchy.Config{MaxPending: 1})
	_, err := w.AfterFunc(24*time.Hour, func() {})
	require.NoError(t, err)
	woke := make(chan time.Time)
	go func() {
		c.Sleep(time.Hour)
		woke <- c.Now()
	}()
	require.NoError(t, m.WaitFor(t.Context(), 2))
	m.Add(time.Hour)
	require.Equal(t, m.Now(), <-woke)
}

// stopped requires that timers end with their wheel, even if they are reset.
func (a Adapter) stopped(t *testing.T) {
	c, w, m := a.onMock(t, hierarchy.Config{})
	timer, after, ticker := c.NewTimer(time.Second), c.After(time.Second), c.NewTicker(time.Second)
	f := c.AfterFunc(time.Second, func() { t.Error("called") })
	w.Stop()
	a.requireDead(t, c, timer, f, ticker, after)
	m.Add(time.Hour)
	require.Equal(t, m.Now(), c.Now())
	a.requireDead(t, c, timer, f, ticker, after)
}

// stoppedBefore requires that timers that are made on a stopped wheel never fire, even if they are reset.
func (a Adapter) stoppedBefore(t *testing.T) {
	c, w, m := a.onMock(t, hierarchy.Config{})
	w.Stop()
	timer, after, ticker := c.NewTimer(0), c.After(0), c.NewTicker(time.Second)
	f := c.AfterFunc(0, func() { t.Error("called") })
	require.NotNil(t, timer.Chan())
	require.NotNil(t, after)
	require.Nil(t, f.Chan())
	require.NotNil(t, ticker.C)
	for range 2 {
		a.requireDead(t, c, timer, f, ticker, after)
		m.Add(time.Hour)
	}
}

func (a Adapter) requireDead(t *testing.T, c Clock, timer, f Timer, ticker Ticker, after <-chan time.Time) {
	require.False(t, timer.Stop())
	require.False(t, timer.Reset(0))
	require.False(t, timer.Reset(time.Second))
	require.False(t, f.Stop())
	require.False(t, f.Reset(0))
	if ticker.Reset != nil {
		ticker.Reset(1)
	}
	require.EqualValues(t, -1, received(timer.Chan()))
	require.EqualValues(t, -1, received(after))
	require.EqualValues(t, -1, received(ticker.C))
	ticker.Stop()
	c.Sleep(time.Hour) // returns
}

// sleepEndsWithTheWheel requires that stopping a wheel leaves no sleeper behind.
func (a Adapter) sleepEndsWithTheWheel(t *testing.T) {
	c, w, m := a.onMock(t, hierarchy.Config{})
	woke := make(chan struct{})
	go func() {
		defer close(woke)
		c.Sleep(time.Hour)
	}()
	require.NoError(t, m.WaitFor(context.Background(), 1))
	w.Stop()
	<-woke
}

func (a Adapter) panics(t *testing.T) {
	c, w, _ := a.onMock(t, hierarchy.Config{})
	for range 2 { // the second time the wheel is already stopped
		for _, period := range []time.Duration{0, -1} {
			require.PanicsWithValue(t, a.Name+": non-positive interval for NewTicker", func() { c.NewTicker(period) })
		}
		w.Stop()
	}
	require.PanicsWithValue(t, a.Name+": New of a nil wheel", func() { a.New(nil) })
	c, _, _ = a.onMock(t, hierarchy.Config{})
	require.PanicsWithValue(t, a.Name+": AfterFunc of a nil function", func() { c.AfterFunc(1, nil) })
	ticker := c.NewTicker(1)
	defer ticker.Stop()
	if ticker.Reset != nil {
		require.PanicsWithValue(t, a.Name+": non-positive interval for Ticker.Reset", func() { ticker.Reset(0) })
	}
}
