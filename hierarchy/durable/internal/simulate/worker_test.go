package simulate

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/cluster"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/member"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/membus"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memtable"
)

// worker is a process.
type worker struct {
	w      *world
	chance *chance // of what happens in the process
	bus    *membus.Bus
	store  *memtable.Store
	logs   []*connection // nil if it only calls
	going  chan struct{} // holds a value unless the process stands still
	clock  *clocks
	table  atomic.Int32              // what becomes of calls of the table
	failed atomic.Int64              // when one failed last that was a little trouble
	alone  atomic.Pointer[time.Time] // if the process is cut off from all but the logs: when its lease ends at the latest

	mute      atomic.Int32 // 1 plus the partition to whose log it can't write, or 0
	announced sync.Map     // the keys of attempts, until they have begun or were withdrawn

	hit     atomic.Bool // something happens to it
	holdUps []holdUp    // guarded by the world's mutex, as the five below
	stood   time.Duration
	leased  time.Time                // when the lease ends by the last renewal that was acknowledged
	running int                      // handlers
	full    time.Time                // since when all places are taken, or zero
	tokens  map[uint64]time.Duration // by the name of an attempt: until when its token lasts, by the clock of the process

	left     atomic.Bool            // it is ending
	answered [partitions][]answered // guarded by the world's mutex, as the next one
	calls    [partitions]calls
	endings  sync.Map // by *partition.Partition that was called: when it ended, as *atomic.Pointer[time.Time]

	opened  chan struct{}    // closed once cluster is there, or could not be opened
	cluster *cluster.Cluster // one of these is nil
	caller  *cluster.Caller
	once    sync.Once
}

// what both kinds of processes can do.
type shared interface {
	Do(ctx context.Context, at int, c *core.Call) error
	Get(ctx context.Context, at int, key []byte) (value string, remaining time.Duration, ok bool, err error)
	Count(ctx context.Context, at int) (int, error)
	All(ctx context.Context, at int, dead bool, yield func(state.Timer) bool) error
}

func (w *world) newWorker() *worker {
	p := &worker{w: w, tokens: make(map[uint64]time.Duration), bus: w.net.Connect(), store: w.table.Open(), going: make(chan struct{}, 1),
		opened: make(chan struct{})}
	p.chance = w.chances.of("process", p.bus.Number)
	p.going <- struct{}{}
	p.clock = newClocks(p, p.chance.branch())
	return p
}

// pause makes a process stand still for a time, as far as others can tell: nothing that it sends or writes arrives, nor
// anything that is sent to it.
func (p *worker) pause(long time.Duration) {
	<-p.going
	begun := time.Now()
	p.clock.sleep()
	p.store.Pause(true)
	p.bus.Cut(true, true)
	time.Sleep(long)
	p.bus.Cut(false, false)
	p.store.Pause(false)
	p.clock.wake()
	p.stands(begun)
	p.going <- struct{}{}
}

// stands records that a process has stood still since a time.
func (p *worker) stands(since time.Time) {
	p.heldUp(since, standstill)
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	p.stood += time.Since(since)
	p.w.stood = max(p.w.stood, p.stood)
}

// await returns when the process does not stand still.
func (p *worker) await(uint64) {
	<-p.going
	p.going <- struct{}{}
}

// common is the configuration of partitions.
func (p *worker) common() partition.Config {
	cfg := partition.Config{
		Config: core.Config{MaxAttempts: attempts, TrimAbove: 2000, Backoff: func(int) time.Duration { return backoff }},
		Clock:  p.clock, Precision: time.Millisecond, Crew: partition.NewCrew(places), Handle: p.handle,
		Logger: slog.New(slog.DiscardHandler), Owner: "simulated",
	}
	if p.w.seed%10 == 0 { // it takes a seventh of the time
		cfg.Gate = partition.NewLearningGate()
	}
	if p.w.forgets() {
		cfg.Remember = remembered
	}
	if p.w.announces() {
		cfg.Announce, cfg.Withdrawn = p.announce, p.over
	}
	return cfg
}

func (p *worker) member() member.Config {
	return member.Config{
		Store: &connectedTable{Store: p.store, p: p}, Lease: lease, Partitions: partitions,
		Boot: p.clock.boot,
	}
}

// rise begins a process that owns partitions.
func (w *world) rise(ctx context.Context) (*worker, error) {
	p := w.newWorker()
	cfg := cluster.Config{Bus: p.bus, Name: "world", MaxSkew: maxSkew,
		Member: p.member(), Common: p.common(), Logger: slog.New(slog.DiscardHandler)}
	for at, d := range w.disks {
		log := &connection{Log: d.Open(), p: p, at: at}
		p.watch(at, log)
		p.logs = append(p.logs, log)
		cfg.Logs = append(cfg.Logs, storage.Log(log))
	}
	p.store.SetFault(p.tableFault)
	begun := time.Now()
	c, err := cluster.Open(ctx, cfg)
	if err != nil {
		close(p.opened)
		p.disconnect()
		return nil, err
	}
	p.cluster = c
	if w.announces() { // what was announced waits
		p.heldUp(begun, everywhere)
	}
	close(p.opened)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.living = append(w.living, p)
	return p, nil
}

// appear begins a process that only calls.
func (w *world) appear(ctx context.Context) error {
	p := w.newWorker()
	p.store.SetFault(p.tableFault)
	c, err := cluster.OpenCaller(ctx, cluster.Config{
		Bus: p.bus, Name: "world", Member: p.member(), Common: p.common(), Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		p.disconnect()
		return err
	}
	p.caller = c
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calling = append(w.calling, p)
	return nil
}

func (p *worker) api() shared {
	if p.caller != nil {
		return counted{p.caller, p}
	}
	return counted{p.cluster, p}
}

// leave takes a process out of those that are asked. It reports whether it was one of them.
func (p *worker) leave() bool {
	p.left.Store(true)
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	before := len(p.w.living)
	p.w.living = slices.DeleteFunc(p.w.living, func(q *worker) bool { return p == q })
	return len(p.w.living) < before
}

// kill ends a process without a word: nothing that it does arrives any more.
func (p *worker) kill() {
	p.leave()
	p.disconnect()
	go p.close()
}

func (p *worker) disconnect() {
	p.store.Cut(true)
	p.bus.Close()
	for _, log := range p.logs {
		log.Close()
	}
}

// close ends a process, dead or not.
func (p *worker) close() {
	p.once.Do(func() {
		p.leave()
		if p.caller != nil {
			p.caller.Close()
		} else {
			p.cluster.Close()
		}
		p.bus.Close()
	})
}
