// Package partition is the owner of one log. It does what package core decides: it appends frames with the operations of
// callers, and calls the handlers of timers that are due. Keys and values are bytes. DESIGN.md, next to the module's
// go.mod, describes it.
//
// # Locks
//
// An outer lock is taken under no other lock, an inner one under none or one outer lock. Builds with the tag lockorder
// panic if locks are taken in another order, or if a function is called without the lock that it needs.
//
//	outer  Partition.mu     the core: the state, what fires, what trimming does, and where the log ends (only the writer
//	                        changes that, so it needs no lock to read it). firer, writer and trimmer share it
//	       Gate.mu          which partitions may append. The lengths of the waiters' queues are read under it
//	       writer.doubting  whether the frame in doubt is settled: its calls are given up, or answered
//	inner  queue.mu         the items that the writer has not taken, and why no more are accepted
//	       Crew.mu          which partitions may call handlers, and which handlers run
//	       tenure.mu        the calls that wait for the lease
//	       marks.mu         which mark is to be written, and when
//	       seldom.mu        when a warning was logged
//
// Fields that only the writer's goroutine uses need no lock.
package partition

import (
	"context"
	"math"
	"sync"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/wait"
)

// Partition is the owner of a log. Its methods may be called concurrently.
type Partition struct {
	*shared
	reader reader
	tenure tenure
	marks  marks
	trims  trimmer
	firer  firer
	writer writer

	lists    chan struct{} // has room for one: of all Lists, one at a time may wait for mu, so that many don't keep it from the writer
	shutting sync.Once
	pendings sync.Pool // Pendings that were answered
}

// shared is what the types of a partition share.
type shared struct {
	cfg  Config
	time ownTime
	mu   mutex       // Partition.mu
	core *core.Owner // guarded by mu. The frame that is made, and the Head, are changed by the writer only
}

// Open reads the log and takes it over. When it returns, all timers are known, and those that are due begin to fire.
func Open(ctx context.Context, cfg Config) (*Partition, error) {
	f, err := Follow(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return f.own(ctx, true, func(*Partition) {})
}

func newPartition(ctx context.Context, cfg Config) *Partition {
	cfg.fillIn()
	ctx = context.WithoutCancel(ctx)
	s := &shared{cfg: cfg, time: newOwnTime(cfg.Clock, math.MinInt64, 0)}
	s.mu.isOuter()
	p := &Partition{shared: s, lists: make(chan struct{}, 1)}
	p.core = core.New(cfg.Config)
	p.reader.cfg, p.tenure.cfg = &p.cfg, &p.cfg
	w := &p.writer
	*w = writer{
		shared: s, reader: &p.reader, marks: &p.marks, trims: &p.trims, firer: &p.firer, tenure: &p.tenure,
		stopped: make(chan struct{}),
	}
	w.ctx, w.abandon = context.WithCancel(ctx)
	w.doubting.isOuter()
	w.queue.signal = wait.NewSignal()
	w.waiter = newWaiter(&w.queue)
	p.marks = marks{cfg: &p.cfg, writing: w.ctx, busy: make(chan bool, 1)}
	p.trims = trimmer{shared: s, writing: w.ctx, queue: &w.queue, needed: wait.NewSignal()}
	p.firer = firer{
		shared: s, queue: &w.queue, silence: &w.silence, tenure: &p.tenure, virtual: clock.Virtual(cfg.Clock),
	}
	p.firer.settled.L = &p.mu
	p.firer.handlers, p.firer.cancel = context.WithCancel(ctx)
	return p
}

// Epoch returns the epoch of this owner: the number of the frame of its takeover.
func (p *Partition) Epoch() uint64 { return p.core.Epoch }

// Resume must be called after Tenure has become true again. It begins the attempts that became due while Tenure was
// false, and answers the calls that were committed in that time. It costs nothing if nothing waits.
func (p *Partition) Resume() {
	if p.tenure.resume() {
		p.firer.fire()
	}
}
