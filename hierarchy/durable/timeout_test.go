package durable_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// Handlers that hang: one that waits for its context, and then one that ignores it.
func TestTimeout(t *testing.T) {
	causes := make(chan error, 1)
	charge := func(ctx context.Context) error {
		<-ctx.Done()
		causes <- context.Cause(ctx)
		return nil
	}
	cfg := durable.Config[string, string]{Dir: t.TempDir(), MaxAttempts: 1, Concurrency: 1, Timeout: time.Millisecond}
	leave, second := make(chan bool), make(chan bool, 1)
	cfg.Handle = func(ctx context.Context, f durable.Firing[string, string]) error {
		switch f.Key {
		case "ends":
			return charge(ctx)
		case "hangs":
			<-leave
		case "beside":
			second <- true
		}
		return nil
	}
	w := open(t, cfg)
	require.NoError(t, errOf(w.Set(t.Context(), "ends", "", 0)))
	require.Equal(t, durable.ErrTimeout, <-causes)
	require.NoError(t, errOf(w.Set(t.Context(), "hangs", "", 0)))
	require.NoError(t, errOf(w.Set(t.Context(), "beside", "", 0)))
	<-second               // has the place
	stuck := func(n int) { // for a moment also the others, if they are slow
		require.Eventually(t, func() bool {
			st := w.Stats()
			return st.Stuck == n && st.Partitions[0].Stuck == n
		}, time.Minute, time.Millisecond)
	}
	stuck(1)
	require.NoError(t, w.Shutdown(t.Context()))
	stuck(1)
	close(leave)
	stuck(0)
	w = open(t, cfg)
	var dead []string
	for f, err := range w.Dead(t.Context()) {
		require.NoError(t, err)
		dead = append(dead, f.Key)
	}
	require.Subset(t, dead, []string{"ends", "hangs"})
}

func TestTimeoutIsNotNegative(t *testing.T) {
	_, err := durable.Open(t.Context(), durable.Config[string, string]{Dir: t.TempDir(), Timeout: -1,
		Handle: func(context.Context, firing) error { return nil }})
	require.ErrorIs(t, err, hierarchy.ErrArgument)
	require.ErrorContains(t, err, "Timeout -1ns is negative")
}

func TestTimeoutIsForHandlers(t *testing.T) {
	_, err := durable.Open(t.Context(), durable.Config[string, string]{Dir: t.TempDir(), Timeout: time.Second,
		Announce: func(firing) {}})
	require.ErrorIs(t, err, hierarchy.ErrArgument)
	require.ErrorContains(t, err, "Timeout 1s does not end attempts that Begin begins")
}
