package timers

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/tests/internal/wheeltest"
)

// Now is the clock's wall time, which follows jumps, and is a callback's deadline inside it.
func TestNowOnAMock(t *testing.T) {
	w, m := wheeltest.OnMock(t, hierarchy.Config{})
	require.Equal(t, time.Unix(0, 0).UTC(), w.Now())
	var inside time.Time
	_, err := w.AfterFunc(time.Second+1, func() { inside = w.Now() })
	require.NoError(t, err)
	m.Add(time.Minute)
	require.Equal(t, time.Unix(1, 1).UTC(), inside)
	m.Jump(time.Hour)
	require.Equal(t, time.Unix(3660, 0).UTC(), w.Now())
	w.Stop()
	m.Add(time.Second)
	require.Equal(t, m.Now(), w.Now())
}

// Off a mock, Now has a monotonic reading, so that differences are elapsed times also when
// the wall clock is set.
func TestNowIsMonotonic(t *testing.T) {
	for _, c := range []clock.Clock{clock.System(), clock.Precise(), clock.Spinning(time.Microsecond)} {
		w := wheeltest.New(t, hierarchy.Config{Clock: c})
		require.Contains(t, w.Now().String(), " m=", "%v", c)
	}
	synctest.Test(t, func(t *testing.T) {
		w := wheeltest.OnSystem(t, hierarchy.Config{})
		defer w.Stop()
		require.Equal(t, time.Now(), w.Now())
	})
}
