package time_test

import (
	"errors"
	"testing"
	standard "time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/compat/internal/api"
	"github.com/epicycle-go/epicycle/compat/time"
	"github.com/epicycle-go/epicycle/tests/long"
)

// Every exported name of package time is here, with the same type, value and members. If a
// new version of Go has more, run go generate with it.
func TestAPI(t *testing.T) {
	long.Only(t)
	found, err := api.Differences("time", ".", "Timer", "Ticker", "Wheel")
	if errors.Is(err, api.ErrNoSource) {
		t.Skip(err)
	}
	require.NoError(t, err)
	require.Empty(t, found)
}

// Values pass freely between the two packages.
var (
	_ standard.Time      = time.Now()
	_ time.Duration      = standard.Second
	_ *standard.Location = time.UTC
	_ standard.Month     = time.January
	_ *time.ParseError   = (*standard.ParseError)(nil)
)

// Wheel gives nobody a way to stop the wheel.
func TestWheelCannotBeStopped(t *testing.T) {
	var w any = time.Wheel()
	_, stops := w.(interface{ Stop() })
	_, shuts := w.(interface{ Shutdown() })
	require.False(t, stops || shuts)
	before := time.Wheel().Stats().Scheduled
	require.True(t, time.AfterFunc(time.Hour, func() {}).Stop())
	require.Greater(t, time.Wheel().Stats().Scheduled, before)
	require.NotEmpty(t, time.Wheel().Circles())
}
