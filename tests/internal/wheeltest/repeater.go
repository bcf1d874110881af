package wheeltest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy"
)

// Every starts a Repeater.
func Every(t *testing.T, w *hierarchy.Wheel, period time.Duration, f func()) *hierarchy.Repeater {
	t.Helper()
	r, err := w.Every(period, f)
	require.NoError(t, err)
	return r
}

// Schedule starts a Repeater.
func Schedule(t *testing.T, w *hierarchy.Wheel, s hierarchy.Schedule, f func()) *hierarchy.Repeater {
	t.Helper()
	r, err := w.Schedule(s, f)
	require.NoError(t, err)
	return r
}

// Planned is a function that implements Schedule.
type Planned func(time.Time) time.Time

func (p Planned) Next(t time.Time) time.Time { return p(t) }
