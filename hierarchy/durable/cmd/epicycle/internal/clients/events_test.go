package clients

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/clients/go"
)

// The Go client follows the timers of a prefix until its caller has seen enough, or its context is done.
func TestEvents(t *testing.T) {
	server := serve(t)
	c, err := epicycle.New(server, epicycle.Options{})
	require.NoError(t, err)
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), enough)
	defer cancel()
	stop := make(chan struct{})
	ended := make(chan struct{})
	go func() { // until the stream has begun, nobody sees what happens
		defer close(ended)
		for {
			_, _ = c.Set(ctx, "other", nil, time.Hour, epicycle.Queue("q"))
			_, _ = c.SetSchedule(ctx, "p/k", 1, "@every 1h", epicycle.Queue("q"))
			_, _, _ = c.Pause(ctx, "p/k")
			select {
			case <-stop:
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	}()
	seen := map[string]bool{}
	for e, err := range c.Events(ctx, "p/") {
		require.NoError(t, err)
		require.Equal(t, "p/k", e.Key)
		require.NotZero(t, e.At)
		require.NotEmpty(t, e.ID)
		if seen[e.Kind] = true; seen["set"] && seen["paused"] {
			break
		}
	}
	close(stop)
	<-ended
	require.Len(t, seen, 2)
	cancel()
	for _, err := range c.Events(ctx, "") {
		require.ErrorIs(t, err, context.Canceled)
	}
}
