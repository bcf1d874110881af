package durable_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	server "github.com/epicycle-go/epicycle/hierarchy/durable/internal/embedded"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/jetstream"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// withLogs calls f with the logs of a directory that nobody has open.
func withLogs(t *testing.T, dir string, f func([]storage.Log)) {
	s, err := server.Open(t.Context(), dir, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	defer s.Close()
	set, err := jetstream.Open(t.Context(), jetstream.Config{Conn: s.Conn(), Name: "timers", Replicas: 1, Made: true})
	require.NoError(t, err)
	f(set.Logs)
}

// A directory in which a later version has written to one log is refused, and nothing is written to it.
func TestDirectoryOfALaterVersion(t *testing.T) {
	cfg := durable.Config[string, string]{Dir: t.TempDir(), Partitions: 3,
		Handle: func(context.Context, firing) error { return nil }}
	w := open(t, cfg)
	require.NoError(t, errOf(w.Set(t.Context(), "a", "", time.Hour)))
	require.NoError(t, w.Close())
	ends := make(map[int]storage.Bounds)
	withLogs(t, cfg.Dir, func(logs []storage.Log) {
		for at, log := range logs {
			end, err := log.Bounds(t.Context())
			require.NoError(t, err)
			if at == 2 {
				data, err := log.Get(t.Context(), end.Last)
				require.NoError(t, err)
				data[4] = frame.Version + 1
				data[len(data)-1]++ // a later version has another checksum
				require.NoError(t, log.Append(t.Context(), end.Last, data))
				end.Last++
			}
			ends[at] = end
		}
	})
	_, err := durable.Open(t.Context(), cfg)
	require.ErrorContains(t, err, "partition 2: frame")
	require.ErrorContains(t, err, "version 2 instead of 1")
	require.NotErrorIs(t, err, durable.ErrDamaged)
	withLogs(t, cfg.Dir, func(logs []storage.Log) {
		for at, log := range logs {
			end, err := log.Bounds(t.Context())
			require.NoError(t, err)
			require.Equal(t, ends[at], end)
		}
	})
}
