package durable_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
)

// A log that an administrator has limited takes many times what it may have, as long as little of that is live.
func TestLimitedLog(t *testing.T) {
	urls, _ := natsServers(t, 1)
	nc := connect(t, urls)
	cfg := durable.Config[string, string]{Conn: nc, Partitions: 1, Lease: time.Second, Handle: new(record).handle}
	w, err := durable.Open(t.Context(), cfg)
	require.NoError(t, err)
	require.NoError(t, w.Shutdown(t.Context()))
	js, err := jetstream.New(nc, answersLate)
	require.NoError(t, err)
	s, err := js.Stream(t.Context(), "epicycle_timers_0")
	require.NoError(t, err)
	limited := s.CachedInfo().Config
	limited.Discard, limited.MaxBytes = jetstream.DiscardNew, 1<<20
	_, err = js.UpdateStream(t.Context(), limited)
	require.NoError(t, err)
	cfg.Conn = connect(t, urls)
	w, err = durable.Open(t.Context(), cfg)
	require.NoError(t, err)
	value := strings.Repeat("v", 32<<10)
	for range 200 {
		require.NoError(t, errOf(w.Set(t.Context(), "k", value, time.Hour)))
	}
	require.NoError(t, w.Shutdown(t.Context()))
}
