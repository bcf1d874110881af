package durable_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// What somebody else publishes to the subjects of a set of timers takes nothing from it: to a log, to its marks,
// and to where processes ask each other. All goes on, also after the next Open.
func TestStrangersPublish(t *testing.T) {
	urls, _ := natsServers(t, 1)
	nc, other := connect(t, urls), connect(t, urls)
	cfg := durable.Config[string, string]{Conn: nc, Partitions: 2, Lease: time.Second, Handle: new(record).handle}
	w, err := durable.Open(t.Context(), cfg)
	require.NoError(t, err)
	for i := range 30 {
		for _, kind := range []string{"log.0", "log.1", "mark.0", "mark.1", "ask.0", "give." + w.Stats().Members[0].ID} {
			require.NoError(t, other.Publish("epicycle.timers."+kind, []byte("hello")))
		}
		require.NoError(t, other.Flush())
		require.NoError(t, errOf(w.Set(t.Context(), fmt.Sprint(i), "v", time.Hour)))
	}
	require.NoError(t, w.Shutdown(t.Context()))
	for _, kind := range []string{"log.0", "mark.0", "mark.0", "mark.1", "mark.1", "mark.about", "mark.about"} {
		require.NoError(t, other.Publish("epicycle.timers."+kind, []byte("hello"))) // two marks are all that is kept
	}
	require.NoError(t, other.Flush())
	cfg.Partitions = 0
	for range 2 {
		cfg.Conn = connect(t, urls)
		w, err = durable.Open(t.Context(), cfg)
		require.NoError(t, err)
		n, err := w.Len(t.Context())
		require.NoError(t, err)
		require.Equal(t, 30, n)
		require.Zero(t, w.Stats().Damaged)
		require.NoError(t, errOf(w.Set(t.Context(), "0", "again", time.Hour)))
		require.NoError(t, w.Shutdown(t.Context()))
	}
}
