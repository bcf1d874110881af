package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/jetstream"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/member"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memlog"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memtable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/leak"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/servers"
)

// server carries the messages between the processes of a test.
var server *servers.Local

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "epicycle-cluster")
	if err == nil {
		server, err = servers.OpenLocal(dir)
	}
	if err != nil {
		panic(err)
	}
	before := goleak.IgnoreCurrent()
	code := m.Run()
	code = leak.Check(code, before)
	server.Close()
	os.RemoveAll(dir)
	os.Exit(code)
}

const (
	partitions = 4
	patience   = time.Minute
	// lease is that of most processes. When one of them alone stands still for longer, the others take it for dead,
	// and its partitions have other owners. That may happen to any process in any test.
	lease = 400 * time.Millisecond
	// steady is the lease of processes that must not lose it by standing still, in tests that have to wait for leases.
	steady = 2 * time.Second
)

var names atomic.Int64

// world is what the processes of a test share: logs, a table, and a server for messages.
type world struct {
	*require.Assertions
	t     testing.TB
	name  string
	disks []*memlog.Disk
	table *memtable.Table

	noLook sync.RWMutex // see unseen

	mu    sync.Mutex
	fired []firing
	// handle, if not nil, is what handlers do.
	handle func(context.Context, core.Firing) error
}

// firing is a call of a handler.
type firing struct {
	core.Firing
	by   *process
	at   time.Time
	over bool // its context was done by then
}

func newWorld(t testing.TB) *world { return newWorldOf(t, partitions) }

// newWorldOf is a world with n partitions.
func newWorldOf(t testing.TB, n int) *world {
	w := &world{Assertions: require.New(t), t: t, name: fmt.Sprintf("world%d", names.Add(1)), table: new(memtable.Table)}
	for range n {
		w.disks = append(w.disks, new(memlog.Disk))
	}
	return w
}

// process is one that shares the partitions.
type process struct {
	*Cluster
	w      *world
	conn   *nats.Conn
	store  *memtable.Store
	logs   []*memlog.Log
	lease  time.Duration
	answer time.Duration // for which a log may be silent
	clock  clock.Clock
	skew   time.Duration
	behind time.Duration
	reread time.Duration
	once   sync.Once
	logger *slog.Logger
	wrap   func(storage.Log) storage.Log // nil: its logs are as they are
	caller *Caller                       // nil: it is a member. Else Cluster only calls

	announce func(core.Firing) error // nil: it handles its timers
}

// open begins a process, and waits until it is ready.
func (w *world) open() *process {
	p := w.process()
	w.NoError(p.open(w.t.Context()))
	return p
}

// openCaller begins a process that calls, and owns nothing.
func (w *world) openCaller() *process {
	p := w.process()
	p.logs = nil
	var err error
	p.caller, err = OpenCaller(w.t.Context(), Config{
		Bus: jetstream.NewBus(p.conn), Name: w.name, Logger: p.logger,
		Member: member.Config{Store: p.store, Lease: p.lease, Partitions: len(w.disks)},
		Common: partition.Config{Clock: p.clock},
	})
	w.NoError(err)
	p.Cluster = &Cluster{router: p.caller.router}
	w.t.Cleanup(p.close)
	return p
}

// openSteady begins a process that does not lose its lease by standing still for a moment.
func (w *world) openSteady() *process {
	p := w.process().steady()
	w.NoError(p.open(w.t.Context()))
	return p
}

// steady gives a process that has not begun yet that lease. It waits for its logs then: else it would leave one that is
// silent for a moment to others for two leases.
func (p *process) steady() *process {
	p.lease, p.answer = steady, patience
	return p
}

func (w *world) process() *process {
	p := &process{w: w, store: w.table.Open(), lease: lease, answer: 20 * time.Millisecond, clock: clock.Precise(), behind: 2 * lease, reread: lease, logger: slog.New(slog.DiscardHandler)}
	conn, err := nats.Connect("", nats.InProcessServer(server), nats.Timeout(patience))
	w.NoError(err)
	p.conn = conn
	for _, d := range w.disks {
		p.logs = append(p.logs, d.Open())
	}
	return p
}

func (p *process) open(ctx context.Context) error {
	cfg := Config{
		Bus: jetstream.NewBus(p.conn), Name: p.w.name, Logger: p.logger, MaxSkew: p.skew, Behind: p.behind, Reread: p.reread,
		Member: member.Config{Store: p.store, Lease: p.lease},
		Common: partition.Config{
			Config: core.Config{MaxAttempts: 3, TrimAbove: 2000,
				Backoff: func(int) time.Duration { return 10 * time.Millisecond }},
			Clock: p.clock, Precision: time.Millisecond, Crew: partition.NewCrew(16), Handle: p.handle, Announce: p.announce,
			Logger: slog.New(slog.DiscardHandler), Owner: "test", MarkEvery: 5 * time.Millisecond,
			Patience: storage.Patience{Answer: p.answer, Pause: time.Millisecond},
		},
	}
	for _, log := range p.logs {
		if p.wrap != nil {
			cfg.Logs = append(cfg.Logs, p.wrap(log))
			continue
		}
		cfg.Logs = append(cfg.Logs, log)
	}
	c, err := Open(ctx, cfg)
	if err != nil {
		p.conn.Close()
		return err
	}
	p.Cluster = c
	p.w.t.Cleanup(p.close)
	return nil
}

func (p *process) handle(ctx context.Context, f core.Firing) error {
	called := firing{Firing: f, by: p, at: time.Now()}
	called.over = ctx.Err() != nil
	p.w.mu.Lock()
	p.w.fired = append(p.w.fired, called)
	handle := p.w.handle
	p.w.mu.Unlock()
	if handle != nil {
		return handle(ctx, f)
	}
	return nil
}

// kill ends a process without a word: nothing that it does arrives any more.
func (p *process) kill() {
	p.store.Cut(true)
	p.conn.Close()
	for _, log := range p.logs {
		log.Close()
	}
	go p.close()
}

// close ends a process, dead or not.
func (p *process) close() {
	p.once.Do(func() {
		if p.caller != nil {
			p.caller.Close()
		} else {
			p.Cluster.Close()
		}
		p.conn.Close()
	})
}

// owns is how many partitions a process owns.
func (p *process) owns() (n int) {
	for at := range p.w.disks {
		if _, owned, _ := p.Stats(at); owned {
			n++
		}
	}
	return n
}

func (w *world) eventually(what string, f func() bool) {
	w.t.Helper()
	w.Eventually(f, patience, time.Millisecond, what)
}

// of is the partition of a test's key.
func of(key string) int { return int(key[len(key)-1]) % partitions }

// do has one operation committed, or not.
func (p *process) do(kind frame.Kind, key, value string, in time.Duration) (value2 string, took bool, err error) {
	c := &core.Call{Ops: []core.Op{{Kind: kind, Key: []byte(key), Value: []byte(value), In: in}}}
	if err := p.Do(p.w.t.Context(), of(key), c); err != nil {
		return "", false, err
	}
	return strings.Join(c.Values, ""), c.Took[0], nil
}

func (p *process) set(key, value string, in time.Duration) {
	_, took, err := p.do(frame.Set, key, value, in)
	p.w.NoError(err)
	p.w.True(took)
}

// keys are all keys that are not dead, as a process sees them.
func (p *process) keys() map[string]string {
	all, err := p.tryKeys()
	p.w.NoError(err)
	return all
}

func (p *process) tryKeys() (all map[string]string, err error) {
	all = make(map[string]string)
	for at := range partitions {
		err = errors.Join(err, p.All(p.w.t.Context(), at, false, func(t state.Timer) bool {
			all[t.Key] = t.Value
			return true
		}))
	}
	return all, err
}

// firings are those of a key.
func (w *world) firings(key string) (all []firing) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range w.fired {
		if f.Key == key {
			all = append(all, f)
		}
	}
	return all
}

func isUnavailable(err error) bool { return errors.Is(err, partition.ErrUnavailable) }
