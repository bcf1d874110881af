package hierarchy_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A channel gets the time when its timer was due, however late the wheel wakes and whenever the
// value is received.
func TestChannelsGetTheTimeWhenDue(t *testing.T) {
	w, c := onLaggingClock(t)
	c.runTo(time.Second)
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
	c.runTo(time.Second + d + d/2)
	for name, channel := range map[string]<-chan time.Time{"After": after, "NewTimer": timer.C, "Reset": again.C, "Ticker": ticker.C} {
		require.Equal(t, due, <-channel, name)
	}
	now, err := w.NewTimer(0)
	require.NoError(t, err)
	require.Equal(t, c.Now(), <-now.C)
}
