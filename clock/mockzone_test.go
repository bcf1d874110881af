package clock_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
)

// A mock's times are in UTC, whatever moves it and whatever the machine's zone is.
func TestMockNowIsUTC(t *testing.T) {
	m := clock.NewMock()
	require.Equal(t, time.Unix(0, 0).UTC(), m.Now())
	m.Add(time.Hour)
	m.Jump(time.Minute)
	require.Equal(t, time.Date(1970, 1, 1, 1, 1, 0, 0, time.UTC), m.Now())
	m.Set(time.Date(2030, 3, 1, 8, 0, 0, 0, time.Local))
	require.Equal(t, time.Date(2030, 2, 28, 23, 0, 0, 0, time.UTC), m.Now())
	m.Set(time.Date(2030, 3, 1, 7, 0, 0, 0, time.Local)) // a jump back
	require.Equal(t, time.Date(2030, 2, 28, 22, 0, 0, 0, time.UTC), m.Now())
	require.Equal(t, m.Now(), m.WaitForAllTimers())
	require.Zero(t, m.Until(time.Date(2030, 3, 1, 7, 0, 0, 0, time.Local)))
}

// The times from its benbjohnson timers and from its wheels are in UTC too.
func TestMockTimersSendUTC(t *testing.T) {
	kinds := map[string]func(t *testing.T, m *clock.Mock) <-chan time.Time{
		"Timer":  func(t *testing.T, m *clock.Mock) <-chan time.Time { return m.Benbjohnson().Timer(time.Minute).C },
		"After":  func(t *testing.T, m *clock.Mock) <-chan time.Time { return m.Benbjohnson().After(time.Minute) },
		"Ticker": func(t *testing.T, m *clock.Mock) <-chan time.Time { return m.Benbjohnson().Ticker(time.Minute).C },
		"Tick":   func(t *testing.T, m *clock.Mock) <-chan time.Time { return m.Benbjohnson().Tick(time.Minute) },
		"reset Timer": func(t *testing.T, m *clock.Mock) <-chan time.Time {
			timer := m.Benbjohnson().Timer(time.Hour)
			timer.Reset(time.Minute)
			return timer.C
		},
		"wheel": func(t *testing.T, m *clock.Mock) <-chan time.Time {
			c, err := newWheel(t, m, nil).After(time.Minute)
			require.NoError(t, err)
			return c
		},
	}
	for name, start := range kinds {
		t.Run(name, func(t *testing.T) {
			m := clock.NewMock()
			m.Set(time.Unix(3600, 0))
			c := start(t, m)
			m.Add(time.Minute)
			require.Equal(t, time.Unix(3660, 0).UTC(), <-c)
			require.Equal(t, time.Unix(3660, 0).UTC(), m.Now())
		})
	}
}

func TestMockContextsAndCompanionsAreUTC(t *testing.T) {
	m := clock.NewMock()
	ctx, cancel := m.Benbjohnson().WithTimeout(context.Background(), time.Minute)
	defer cancel()
	deadline, ok := ctx.Deadline()
	require.True(t, ok)
	require.Equal(t, time.Unix(60, 0).UTC(), deadline)

	m.Benbjohnson().Timer(time.Hour)
	require.Equal(t, time.Unix(3600, 0).UTC(), m.WaitForAllTimers())
}
