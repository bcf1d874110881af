package durable_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
)

// loseTheOnlyServer has one server keep a stream, and ends that one.
func loseTheOnlyServer(t *testing.T, nc *nats.Conn, all []*server.Server, stream string) {
	js, err := jetstream.New(nc, answersLate)
	require.NoError(t, err)
	s, err := js.Stream(t.Context(), stream)
	require.NoError(t, err)
	cfg := s.CachedInfo().Config
	cfg.Replicas = 1 // an operator may have lowered them
	s, err = js.UpdateStream(t.Context(), cfg)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		in, err := s.Info(t.Context())
		return err == nil && in.Cluster.Leader != "" && len(in.Cluster.Replicas) == 0
	}, time.Minute, 50*time.Millisecond)
	i := slices.IndexFunc(all, func(one *server.Server) bool { return one.Name() == s.CachedInfo().Cluster.Leader })
	all[i].Shutdown()
	all[i].WaitForShutdown()
}

// The only server that has one of the logs is lost. Open goes on without that log after a while, and it is
// taken up when the server is back.
func TestOpenWithALogWithoutServers(t *testing.T) {
	t.Parallel() // it waits for leases
	urls, all := natsServers(t, 3)
	var r record
	nc := connect(t, urls)
	w := openShared(t, nc, &r, 2*time.Second)
	keys := keysOf(t, w)
	require.NoError(t, w.Shutdown(t.Context()))
	loseTheOnlyServer(t, nc, all, "epicycle_timers_3")
	begun := time.Now()
	w = openShared(t, nc, &r, 2*time.Second)
	t.Log("opened after", time.Since(begun))
	waitFor(t, "owned", func() bool { return w.Stats().Owned == 7 }) // others may answer as late
	require.Zero(t, w.Stats().Damaged)
	for at := range 8 {
		if at != 3 {
			requirePending(t, w, keys[at][0])
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, _, err := w.Move(ctx, keys[3][0], time.Hour)
	require.ErrorIs(t, err, context.DeadlineExceeded)
}
