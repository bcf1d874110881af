package clock_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
)

func TestMockPlainAlarm(t *testing.T) {
	m, tr := clock.NewMock(), trace{}
	var alarm clock.Alarm
	alarm = m.NewAlarm(func() {
		tr.note(m.Elapsed().String())()
		if m.Elapsed() < 3*time.Second {
			alarm.Set(m.Elapsed() + time.Second)
		} else {
			alarm.Stop()
		}
	})
	m.Add(time.Second)
	require.Empty(t, tr.take())
	alarm.Set(0)
	alarm.Set(-1)
	require.Empty(t, tr.take())
	m.Add(0)
	require.Equal(t, []string{"1s"}, tr.take())
	d, ok := m.Next()
	require.True(t, ok)
	require.Equal(t, time.Second, d)
	m.Add(time.Hour)
	require.Equal(t, []string{"2s", "3s"}, tr.take())
	_, ok = m.Next()
	require.False(t, ok)
}

func TestMockPlainAlarmSetAndStop(t *testing.T) {
	m, rings := clock.NewMock(), 0
	var alarm clock.Alarm
	alarm = m.NewAlarm(func() { rings++; alarm.Stop() })
	alarm.Stop()
	alarm.Set(time.Second)
	alarm.Set(time.Minute)
	m.Add(time.Second)
	require.Zero(t, rings)
	alarm.Set(2 * time.Second)
	alarm.Stop()
	m.Add(time.Hour)
	require.Zero(t, rings)
	alarm.Set(time.Hour + time.Minute)
	d, ok := m.AddNext()
	require.True(t, ok)
	require.Equal(t, time.Minute-time.Second, d)
	require.Equal(t, 1, rings)
}

func TestMockPlainAlarmsInOrder(t *testing.T) {
	m, tr := clock.NewMock(), trace{}
	for _, name := range []string{"a", "b", "c", "d"} {
		var alarm clock.Alarm
		alarm = m.NewAlarm(func() { tr.note(name)(); alarm.Stop() })
		alarm.Set(time.Second)
		if name == "b" {
			defer func() { require.Equal(t, []string{"a", "c", "d", "b"}, tr.take()) }()
			defer m.Add(time.Second)
			defer alarm.Set(time.Second)
		}
	}
}

// An alarm without a wheel is not a timer, and WaitFor does not count it. Moving the mock
// inside a ring panics, as inside a callback.
func TestMockPlainAlarmIsNoTimer(t *testing.T) {
	m, rang := clock.NewMock(), false
	var alarm clock.Alarm
	alarm = m.NewAlarm(func() {
		rang = true
		require.Panics(t, func() { m.Add(0) })
		alarm.Stop()
	})
	alarm.Set(time.Second)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	require.ErrorIs(t, m.WaitFor(ctx, 1), context.Canceled)
	m.WaitForAllTimers()
	require.True(t, rang)
	require.Equal(t, time.Second, m.Elapsed())
}
