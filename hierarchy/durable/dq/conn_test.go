package dq_test

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/dq"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/servers"
)

// natsServer returns the URL of a server that runs until the test ends.
func natsServer(t *testing.T) string {
	cfgs, err := servers.Cluster(1, func(int) string { return t.TempDir() })
	require.NoError(t, err)
	cfgs[0].Cluster = 0
	s, err := servers.Start(cfgs[0])
	require.NoError(t, err)
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	return cfgs[0].URL()
}

// Producers and consumers of one queue can be in several processes: here each has a connection of its own.
func TestOnServers(t *testing.T) {
	url := natsServer(t)
	conf := dq.DqConf{NATS: url, Name: "orders", Lease: time.Minute}
	got := make(chan string)
	consume := into(t, got)
	stop := start(t, conf, consume)
	start(t, conf, consume)

	nc, err := nats.Connect(url, nats.MaxReconnects(-1))
	require.NoError(t, err)
	t.Cleanup(nc.Close)
	p := producer(t, dq.DqConf{Conn: nc, Name: "orders"})
	for i := range 20 {
		put(t, p, string(rune('a'+i)), 0)
	}
	id := put(t, p, "revoked", time.Hour)
	require.NoError(t, p.Revoke(id))
	all := make(map[string]bool)
	for len(all) < 20 { // one can come again when its partition changes hands
		all[<-got] = true
	}
	ended := make(chan bool)
	go func() { stop(); close(ended) }()
	put(t, p, "last", 0) // the other one goes on
	for !all["last"] {
		all[<-got] = true
	}
	require.NotContains(t, all, "revoked")
	for open := true; open; {
		select {
		case <-got:
		case _, open = <-ended:
		}
	}
}
