package metrics_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/servers"
	"github.com/epicycle-go/epicycle/hierarchy/durable/metrics"
)

// Of processes that share timers, the partitions that are owned add up, and so do the counters, also after one has given
// its partitions away.
func TestProcessesAddUp(t *testing.T) {
	cfgs, err := servers.Cluster(1, func(int) string { return t.TempDir() })
	require.NoError(t, err)
	cfgs[0].Cluster = 0 // it is alone
	server, err := servers.Start(cfgs[0])
	require.NoError(t, err)
	defer server.WaitForShutdown()
	defer server.Shutdown()
	connect := func() *nats.Conn {
		nc, err := nats.Connect(cfgs[0].URL(), nats.MaxReconnects(-1))
		require.NoError(t, err)
		t.Cleanup(nc.Close)
		return nc
	}
	var both []*durable.Keyed[string, string]
	for range 2 {
		nc := connect()
		w := open(t, durable.Config[string, string]{Conn: nc, Lease: 2 * time.Second, Partitions: 4})
		defer w.Close()
		both = append(both, w)
	}
	sum := func(name string) (n float64) {
		for _, w := range both {
			n += figures(t, metrics.New(w))["epicycle_durable_"+name]
		}
		return n
	}
	owned := func(i int, n float64) func() bool {
		return func() bool { return figures(t, metrics.New(both[i]))["epicycle_durable_partitions_owned"] == n }
	}
	require.Eventually(t, owned(0, 2), time.Minute, time.Millisecond)
	require.Eventually(t, owned(1, 2), time.Minute, time.Millisecond)
	require.Equal(t, 4.0, sum("members"), "each knows both")
	for i := range 20 {
		_, err := both[i%2].Set(t.Context(), fmt.Sprint(i), "", time.Hour)
		require.NoError(t, err)
	}
	require.Equal(t, 20.0, sum("timers_set_total"))
	require.Equal(t, 20.0, sum("timers_pending"))
	require.Equal(t, 2.0, sum("healthy"))
	require.Positive(t, sum("call_seconds"), "some keys are the other's")
	requireCaller(t, connect())
	before := figures(t, metrics.New(both[0]))
	require.NoError(t, both[0].Shutdown(t.Context()))
	require.Eventually(t, owned(1, 4), time.Minute, time.Millisecond)
	require.Equal(t, 20.0, sum("timers_set_total"))
	require.Equal(t, 20.0, sum("timers_pending"))
	require.Equal(t, 4.0, sum("partitions_owned"))
	for name, v := range figures(t, metrics.New(both[0])) {
		if strings.HasSuffix(name, "_total") {
			require.GreaterOrEqual(t, v, before[name], name)
		}
	}
}

// requireCaller requires that a process that owns nothing knows the whole, and exports what its calls take.
func requireCaller(t *testing.T, nc *nats.Conn) {
	w, err := durable.Open(t.Context(), durable.Config[string, string]{Conn: nc})
	require.NoError(t, err)
	defer w.Close()
	_, _, _, err = w.Get(t.Context(), "1")
	require.NoError(t, err)
	all := figures(t, metrics.New(w))
	for name, want := range map[string]float64{"partitions": 4, "partitions_owned": 0, "members": 2, "healthy": 1,
		"timers_pending": 0, "calls_unanswered_total": 0} {
		require.Equal(t, want, all["epicycle_durable_"+name], name)
	}
	require.Positive(t, all["epicycle_durable_call_seconds"])
}
