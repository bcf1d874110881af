package clock_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
)

// alarmed makes a mock with an alarm that is aimed at a time.
func alarmed(at time.Duration) (*clock.Mock, clock.Alarm) {
	m := clock.NewMock()
	a := m.NewAlarm(func() {})
	a.Set(at)
	return m, a
}

func TestWaitNext(t *testing.T) {
	m, a := alarmed(time.Minute)
	defer a.Stop()
	require.NoError(t, m.WaitNext(t.Context(), time.Minute))
	for name, change := range map[string]func(){
		"an alarm is set":   func() { a.Set(time.Second) },
		"it is stopped":     func() { b := m.NewAlarm(func() {}); b.Set(time.Second); a.Set(time.Hour) },
		"the clock moves":   func() { a.Set(time.Hour + time.Second); m.Add(time.Hour) },
		"another is nearer": func() { a.Set(2 * time.Hour); m.Add(2*time.Hour - m.Elapsed() - time.Second) },
	} {
		t.Run(name, func(t *testing.T) {
			m, a = alarmed(time.Minute)
			reached := make(chan error)
			go func() { reached <- m.WaitNext(t.Context(), time.Second) }()
			change()
			require.NoError(t, <-reached)
		})
	}
}

// WaitNext sees alarms that belong to no wheel, and its error tells of them.
func TestWaitNextThatFailsBesideAnAlarm(t *testing.T) {
	m, a := alarmed(time.Minute)
	defer a.Stop()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.EqualError(t, m.WaitNext(ctx, time.Second), "context canceled: no timer is pending, an alarm is due in 1m0s")
}
