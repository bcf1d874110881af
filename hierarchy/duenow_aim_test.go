package hierarchy

import (
	"context"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/internal/handclock"
	"github.com/stretchr/testify/require"
)

// With Go, no call for what is due touches the alarm. A Schedule whose first run is due
// keeps a node, in no slot.
func TestDueNowWithGoAimsAtNothing(t *testing.T) {
	c := &handclock.Clock{}
	w, err := New(Config{Clock: c, Shards: 1})
	require.NoError(t, err)
	ran, again := make(chan bool), make(chan bool)
	_, err = w.AfterFunc(-1, func() { ran <- true })
	require.NoError(t, err)
	<-ran
	calls := 0
	r, err := w.Schedule(planned(func(now time.Time) time.Time {
		if calls++; calls == 1 {
			return now.Add(-1)
		}
		return now.Add(time.Hour)
	}), func() { ran <- true; <-again })
	require.NoError(t, err)
	<-ran
	require.False(t, c.Aimed())
	require.Equal(t, 1, w.Len())
	require.NoError(t, w.core.Check())
	again <- true
	require.True(t, r.Stop())
	require.NoError(t, w.Shutdown(context.Background()))
}

type planned func(time.Time) time.Time

func (p planned) Next(t time.Time) time.Time { return p(t) }
