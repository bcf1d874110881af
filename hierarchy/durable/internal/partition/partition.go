package partition

import (
	"context"
	"hash/maphash"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// Partition is the owner of a log. Its methods may be called concurrently.
type Partition struct {
	cfg     Config
	virtual bool // the clock is a mock
	alarm   clock.Alarm
	time    ownTime
	queue   queue
	epoch   uint64
	head    head // the writer's; written with mu held
	draft   draft
	marks   marks
	reader  reader
	tenure  tenure

	entered   bool // the writer's: it has a place of the Gate
	turn      *turn
	applying  uint64 // the writer's: Ask.By of the operation that is being applied
	trimsTurn bool   // the writer's: the last frame had only what trimming writes again

	handlers context.Context // of all attempts
	cancel   context.CancelFunc
	writing  context.Context // ends when the writer has to stop
	abandon  context.CancelFunc
	stopped  chan struct{} // closed when the writer has ended
	left     error         // what it could not do as it was abandoned; written before stopped is closed

	mu       mutex
	state    *state.State // written by the writer
	firing   firing
	trims    trimmer
	counts   Counts
	lateness hierarchy.Histogram
	commits  hierarchy.Histogram

	doubtful time.Time // the writer's: since when calls have been waiting for clear answers, if they do

	doubt    atomic.Bool               // the frame that is under way had no clear answer
	silent   atomic.Pointer[time.Time] // since when that is so, or nil
	doubting mutex                     // held where calls are given up, and where that ends
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
	p := &Partition{cfg: cfg, virtual: clock.Virtual(cfg.Clock), stopped: make(chan struct{})}
	p.handlers, p.cancel = context.WithCancel(context.WithoutCancel(ctx))
	p.writing, p.abandon = context.WithCancel(context.WithoutCancel(ctx))
	p.time = newOwnTime(cfg.Clock, math.MinInt64, 0)
	p.queue.signal = make(chan struct{}, 1)
	p.turn = newTurn(&p.queue)
	p.draft = draft{seed: maphash.MakeSeed(), touched: make(map[uint64]int)}
	p.mu.isOuter()
	p.doubting.isOuter()
	p.reader.cfg, p.tenure.cfg = &p.cfg, &p.cfg
	p.trims = trimmer{cfg: &p.cfg, reader: &p.reader, writing: p.writing, queue: &p.queue, mu: &p.mu}
	p.newState()
	p.firing.attempts = make(map[state.Ref]*attempt)
	p.marks = marks{cfg: &p.cfg, writing: p.writing, busy: make(chan bool, 1)}
	return p
}

// newState has an empty state.
func (p *Partition) newState() {
	p.state = state.New()
	p.state.SetRemember(p.cfg.Remember)
	p.state.Superseded = func(ref state.Ref) {
		if a := p.firing.attempts[ref]; a != nil {
			p.superseded(p.applying, a)
		}
	}
	p.draft.state, p.trims.state = p.state, p.state
}

// Epoch is the number of the takeover.
func (p *Partition) Epoch() uint64 { return p.epoch }
