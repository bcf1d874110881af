package remote

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/jetstream"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memlog"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/servers"
)

// conn is the connection that all tests share. They have names of their own.
var conn *nats.Conn

// local carries its messages.
var local *servers.Local

var names atomic.Int64

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "epicycle-remote")
	if err != nil {
		panic(err)
	}
	s, err := servers.OpenLocal(dir)
	if err != nil {
		panic(err)
	}
	conn, local = s.Conn(), s
	code := m.Run()
	s.Close()
	os.RemoveAll(dir)
	os.Exit(code)
}

// bench is a partition whose owners are asked by other processes.
type bench struct {
	*require.Assertions
	t    testing.TB
	cfg  Config
	disk *memlog.Disk
	part partition.Config
	most int // the log's largest message, if not 0

	ending sync.WaitGroup // of the dead
}

func newBench(t testing.TB) *bench {
	b := &bench{Assertions: require.New(t), t: t, disk: new(memlog.Disk)}
	b.cfg = Config{Bus: jetstream.NewBus(conn), Name: fmt.Sprint("t", names.Add(1)), Partitions: 1}
	b.part = partition.Config{
		Partitions: 1, Clock: clock.System(), Precision: time.Millisecond,
		Config: core.Config{MaxAttempts: 3, Backoff: func(int) time.Duration { return time.Hour }}, Crew: partition.NewCrew(16),
		Logger: slog.New(slog.DiscardHandler), Owner: "test",
		Patience: storage.Patience{Answer: 20 * time.Millisecond, Pause: 20 * time.Microsecond},
		Handle:   func(context.Context, core.Firing) error { return nil },
	}
	t.Cleanup(b.ending.Wait)
	return b
}

// owner is a process that owns the partition.
type owner struct {
	*partition.Partition
	log   *memlog.Log
	lease atomic.Bool
	*Server
	dead atomic.Bool
}

// own takes the partition over and serves it.
func (b *bench) own() *owner {
	o := &owner{log: b.disk.Open()}
	o.log.Max = b.most
	o.lease.Store(true)
	cfg := b.part
	cfg.Log, cfg.Tenure = o.log, o.lease.Load
	var err error
	o.Partition, err = partition.Open(b.t.Context(), cfg)
	b.NoError(err)
	o.Server, err = Serve(b.cfg, 0, o.Partition)
	b.NoError(err)
	b.t.Cleanup(func() {
		if !o.dead.Load() {
			o.shut()
		}
	})
	return o
}

// die ends the owner like the death of its process.
func (b *bench) die(o *owner) {
	o.dead.Store(true)
	o.sub.Stop()
	o.log.Close()
	o.lease.Store(false)
	o.Stop()
	b.ending.Go(o.Partition.Close)
}

// shut ends the owner in order.
func (o *owner) shut() {
	o.Partition.Close()
	o.Stop()
}

// client is a process that asks.
func (b *bench) client() *Client {
	c, err := New(b.cfg)
	b.NoError(err)
	b.t.Cleanup(c.Close)
	return c
}

func setOp(k, v string) core.Op {
	return core.Op{Kind: frame.Set, Key: []byte(k), Value: []byte(v), In: time.Hour}
}

func moveOp(k string, in time.Duration) core.Op {
	return core.Op{Kind: frame.Move, Key: []byte(k), In: in}
}

func removeOp(k string) core.Op { return core.Op{Kind: frame.Remove, Key: []byte(k)} }

// try asks for operations.
func (c *Client) try(ctx context.Context, ops ...core.Op) (*core.Call, error) {
	call := &core.Call{Ops: ops}
	return call, c.Do(ctx, 0, call, c.Now())
}

// do asks for operations, which must have an answer.
func (b *bench) do(c *Client, ops ...core.Op) *core.Call {
	call, err := c.try(b.t.Context(), ops...)
	b.NoError(err)
	return call
}

// get is the value of a key, or "-".
func (b *bench) get(c *Client, k string) string {
	value, _, ok, err := c.Get(b.t.Context(), 0, []byte(k))
	b.NoError(err)
	if !ok {
		return "-"
	}
	return value
}

// far is a client on the other side of a network.
func (b *bench) far() (*Client, *network) {
	cfg, n := b.between()
	c, err := New(cfg)
	b.NoError(err)
	b.t.Cleanup(c.Close)
	c.count()
	return c, n
}

// count has a client count from now, so that it need not ask an owner for the time of the log first.
func (c *Client) count() {
	for _, l := range c.lanes {
		l.mu.Lock()
		l.known, l.serial = readClocks(c.cfg.Clock), uint64(time.Now().UnixNano())
		l.offset = offset{epoch: math.MaxUint64, sent: readClocks(c.cfg.Clock)}
		l.mu.Unlock()
	}
}

// network is between clients, of one name, and servers, of another: what a proxy does with each
// message is what fate says.
type network struct {
	conn     *nats.Conn
	to       string
	replies  string
	fate     atomic.Pointer[func(answer bool) time.Duration]
	ending   sync.WaitGroup
	subs     []*nats.Subscription
	Messages atomic.Int64 // that clients have sent
}

// Fates of a message, beside how long it is late.
const (
	lost  = -1
	twice = -2
)

// between has clients ask another name than the servers', with a network in between.
func (b *bench) between() (clients Config, n *network) {
	clients = b.cfg
	clients.Name += "far"
	n = &network{conn: conn, to: b.cfg.subject(0), replies: "proxy." + b.cfg.Name + "."}
	n.setFate(func(bool) time.Duration { return 0 })
	for subject, handle := range map[string]nats.MsgHandler{clients.subject(0): n.question, n.replies + ">": n.answer} {
		s, err := conn.Subscribe(subject, handle)
		b.NoError(err)
		n.subs = append(n.subs, s)
	}
	b.t.Cleanup(n.stop)
	return clients, n
}

func (n *network) setFate(f func(answer bool) time.Duration) { n.fate.Store(&f) }

// hold holds back questions, or answers, until release.
func (n *network) hold(answers bool) (release func()) {
	var held sync.Mutex
	held.Lock()
	n.setFate(func(answer bool) time.Duration {
		if answer == answers {
			held.Lock()
			defer held.Unlock()
		}
		return 0
	})
	return held.Unlock
}

func (n *network) stop() {
	for _, s := range n.subs {
		_ = s.Drain()
	}
	n.ending.Wait()
}

func (n *network) question(m *nats.Msg) {
	n.Messages.Add(1)
	n.pass(false, &nats.Msg{Subject: n.to, Reply: n.replies + m.Reply, Data: m.Data})
}

func (n *network) answer(m *nats.Msg) {
	n.pass(true, &nats.Msg{Subject: m.Subject[len(n.replies):], Data: m.Data, Header: m.Header})
}

func (n *network) pass(answer bool, m *nats.Msg) {
	switch late := (*n.fate.Load())(answer); late {
	case lost:
	case twice:
		_ = n.conn.PublishMsg(m)
		fallthrough
	case 0:
		_ = n.conn.PublishMsg(m)
	default:
		n.ending.Add(1)
		time.AfterFunc(late, func() {
			defer n.ending.Done()
			_ = n.conn.PublishMsg(m)
		})
	}
}
