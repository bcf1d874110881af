package remote

import (
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/jetstream"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// changing gives connections to the server that runs now.
type changing struct{ now atomic.Pointer[server.Server] }

func (s *changing) InProcessConn() (net.Conn, error) { return s.now.Load().InProcessConn() }

// start starts another server.
func (b *bench) start(s *changing) {
	n, err := server.NewServer(&server.Options{DontListen: true, NoLog: true, NoSigs: true})
	b.NoError(err)
	n.Start()
	b.True(n.ReadyForConnections(time.Minute))
	s.now.Store(n)
}

// While there is no connection, calls wait, and are sent when there is one again, with what is left
// of their durations. When it is closed, they fail at once.
func TestConnectionIsLost(t *testing.T) {
	b := newBench(t)
	var all changing
	b.start(&all)
	nc, err := nats.Connect("", nats.InProcessServer(&all), nats.Timeout(time.Minute), nats.MaxReconnects(-1), nats.ReconnectWait(5*time.Millisecond))
	b.NoError(err)
	defer nc.Close()
	b.cfg.Bus = jetstream.NewBus(nc)
	b.own()
	c := b.client()
	b.do(c, setOp("a", ""))
	all.now.Load().Shutdown()
	b.Eventually(func() bool { return !nc.IsConnected() }, time.Minute, time.Millisecond)
	errs := make(chan error)
	go func() { _, err := c.try(t.Context(), setOp("b", "")); errs <- err }()
	b.Eventually(func() bool { return c.lanes[0].all() == 1 }, time.Minute, time.Millisecond)
	begun := time.Now()
	time.Sleep(20 * time.Millisecond)
	waited := time.Since(begun)
	b.start(&all)
	b.NoError(<-errs)
	_, left, ok, err := c.Get(t.Context(), 0, []byte("b"))
	b.NoError(err)
	b.True(ok)
	b.LessOrEqual(left, time.Hour-waited)
	nc.Close()
	_, err = c.try(t.Context(), removeOp("a"))
	b.ErrorIs(err, partition.ErrUnavailable)
	b.ErrorIs(err, storage.ErrOffline)
	all.now.Load().Shutdown()
}
