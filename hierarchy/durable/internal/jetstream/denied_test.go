package jetstream_test

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/jetstream"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/servers"
)

// Whether a log can be written to is found out without writing to it. If this process may not, the error says so.
func TestProbe(t *testing.T) {
	cfgs, err := servers.Cluster(1, func(int) string { return t.TempDir() })
	require.NoError(t, err)
	cfg := cfgs[0]
	cfg.Cluster, cfg.Mute, cfg.MuteTo = 0, "mute", "epicycle.x.log.>"
	s, err := servers.Start(cfg)
	require.NoError(t, err)
	defer s.Shutdown()
	open := func(user string) storage.Log {
		nc, err := nats.Connect(servers.URL(user, cfg.Port), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
		require.NoError(t, err)
		t.Cleanup(nc.Close)
		set, err := jetstream.Open(t.Context(), jetstream.Config{Conn: nc, Name: "x", Partitions: 1})
		require.NoError(t, err)
		return set.Logs[0]
	}
	log, muted := open(""), open("mute")
	for i := range uint64(2) {
		require.NoError(t, storage.Patience{}.Probe(t.Context(), log))
		require.ErrorIs(t, storage.Patience{Answer: time.Second}.Probe(t.Context(), muted), storage.ErrDenied)
		for _, log := range []storage.Log{log, muted} {
			b, err := log.Bounds(t.Context())
			require.NoError(t, err)
			require.Equal(t, i, b.Last)
		}
		require.NoError(t, log.Append(t.Context(), i, []byte("a frame")))
	}
}
