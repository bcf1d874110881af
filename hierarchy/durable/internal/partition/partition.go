package partition

import (
	"context"
	"hash/maphash"
	"math"
	"sync"
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// Partition is the owner of a log. Its methods may be called concurrently.
type Partition struct {
	cfg    Config
	time   *ownTime
	firer  firer
	queue  queue
	epoch  uint64
	head   head // the writer's; written with mu held
	draft  draft
	marks  marks
	reader reader
	tenure tenure

	entered   bool // the writer's: it has a place of the Gate
	turn      *turn
	applying  uint64 // the writer's: Ask.By of the operation that is being applied
	trimsTurn bool   // the writer's: the last frame had only what trimming writes again

	writing context.Context // ends when the writer has to stop
	abandon context.CancelFunc
	stopped chan struct{} // closed when the writer has ended
	left    error         // what it could not do as it was abandoned; written before stopped is closed

	mu      mutex
	state   *state.State // written by the writer
	trims   trimmer
	counts  Counts
	commits hierarchy.Histogram

	doubtful time.Time // the writer's: since when calls have been waiting for clear answers, if they do

	silence  silence
	doubting mutex // held where calls are given up, and where that ends
	shutting sync.Once
}

// head is where the log ends.
type head struct {
	frame.Header        // of the last frame
	checksum     uint32 // of it
	end          uint64 // the number of the last message. Strangers' messages may follow the frame
}

// Open takes the log over and reads it. It returns when all timers are known. Those that are due
// are fired from now on.
func Open(ctx context.Context, cfg Config) (*Partition, error) {
	f, err := Follow(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return f.own(ctx, true)
}

func newPartition(ctx context.Context, cfg Config) *Partition {
	cfg.fillIn()
	p := &Partition{cfg: cfg, time: new(ownTime), stopped: make(chan struct{})}
	p.writing, p.abandon = context.WithCancel(context.WithoutCancel(ctx))
	*p.time = newOwnTime(cfg.Clock, math.MinInt64, 0)
	p.queue.signal = make(chan struct{}, 1)
	p.turn = newTurn(&p.queue)
	p.draft = draft{seed: maphash.MakeSeed(), touched: make(map[uint64]int)}
	p.mu.isOuter()
	p.doubting.isOuter()
	p.reader.cfg, p.tenure.cfg = &p.cfg, &p.cfg
	p.trims = trimmer{cfg: &p.cfg, reader: &p.reader, writing: p.writing, queue: &p.queue, mu: &p.mu}
	p.firer = firer{
		cfg: &p.cfg, queue: &p.queue, silence: &p.silence, tenure: &p.tenure, virtual: clock.Virtual(cfg.Clock),
		mu: &p.mu, agenda: agenda{time: p.time}, attempts: make(map[state.Ref]*attempt),
	}
	p.firer.handlers, p.firer.cancel = context.WithCancel(context.WithoutCancel(ctx))
	p.newState()
	p.marks = marks{cfg: &p.cfg, writing: p.writing, busy: make(chan bool, 1)}
	return p
}

// newState has an empty state.
func (p *Partition) newState() {
	p.state = state.New()
	p.state.SetRemember(p.cfg.Remember)
	p.state.Superseded = func(ref state.Ref) { p.firer.superseded(ref, p.applying) }
	p.draft.state, p.trims.state, p.firer.state = p.state, p.state, p.state
}

// Epoch is the number of the takeover.
func (p *Partition) Epoch() uint64 { return p.epoch }

// Resume begins what became due, and answers what was written, while Tenure was false. It must be called after Tenure has become true
// again, and costs nothing if nothing has asked for it meanwhile.
func (p *Partition) Resume() {
	if p.tenure.resume() {
		p.firer.fire()
	}
}
