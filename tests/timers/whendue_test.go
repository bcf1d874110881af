package timers

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/tests/internal/wheeltest"
)

// A channel gets the time when its timer was due, however late the wheel wakes and whenever the
// value is received.
func TestChannelsGetTheTimeWhenDue(t *testing.T) {
	w, c := wheeltest.OnLaggingClock(t, 0)
	c.RunTo(time.Second)
	const d = 3 * time.Millisecond
	due := c.Now().Add(d)
	after, err := w.After(d)
	require.NoError(t, err)
	timer, err := w.NewTimer(d)
	require.NoError(t, err)
	again, err := w.NewTimer(time.Hour)
	require.NoError(t, err)
	require.True(t, again.Reset(d))
	ticker, err := w.NewTicker(d)
	require.NoError(t, err)
	c.RunTo(time.Second + d + d/2)
	for name, channel := range map[string]<-chan time.Time{"After": after, "NewTimer": timer.C, "Reset": again.C, "Ticker": ticker.C} {
		require.Equal(t, due, <-channel, name)
	}
	now, err := w.NewTimer(0)
	require.NoError(t, err)
	require.Equal(t, c.Now(), <-now.C)
}
