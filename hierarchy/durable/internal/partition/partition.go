package partition

import (
	"context"
	"fmt"
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/instant"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/journal"
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

	handlers context.Context // of all attempts
	cancel   context.CancelFunc
	writing  context.Context // ends when the writer has to stop
	abandon  context.CancelFunc
	stopped  chan struct{} // closed when the writer has ended

	mu     sync.Mutex
	state  *state.State // written by the writer
	firing firing
	trims  trims
	room   []byte       // for keys and values that are written again
	acked  journal.Mark // the last frame that was acknowledged
	marked bool         // a mark will be written soon

	markTimer *time.Timer  // guarded by mu
	marking   sync.Mutex   // held while a mark is written
	lastMark  journal.Mark // guarded by marking
	counts    Counts

	doubt    atomic.Bool // the frame that is under way had no clear answer
	doubting sync.Mutex  // held where calls are given up, and where that ends
	shutting sync.Once
}

// Counts are what has happened since Open.
type Counts struct {
	Set, Moved, Removed, Fired, Failed, Died uint64
	Frames, Bytes                            uint64
	Trimmed                                  uint64 // timers that were written again
}

// head is where the log ends.
type head struct {
	frame.Header        // of the last frame
	checksum     uint32 // of it
}

// ownTime is the owner's time: the wall time of its takeover, and what has passed since.
type ownTime struct {
	clock clock.Clock
	shift int64 // from elapsed time to the owner's
}

func newOwnTime(c clock.Clock) ownTime {
	now := c.Now() // first: if the process stands still here, the owner's time is behind, not ahead
	return ownTime{c, now.UnixNano() - int64(c.Elapsed())}
}

func (t ownTime) now() int64  { return int64(t.clock.Elapsed()) + t.shift }
func (t ownTime) wall() int64 { return t.clock.Now().UnixNano() }

// Open takes the log over and reads it. It returns when all timers are known. Those that are due
// are fired from now on.
func Open(ctx context.Context, cfg Config) (*Partition, error) {
	cfg.fillIn()
	p := &Partition{cfg: cfg, virtual: clock.Virtual(cfg.Clock), stopped: make(chan struct{})}
	p.state = state.New()
	p.state.Superseded = p.superseded
	p.time = newOwnTime(cfg.Clock)
	p.queue.signal = make(chan struct{}, 1)
	p.draft = draft{state: p.state, seed: maphash.MakeSeed(), touched: make(map[uint64]int)}
	p.firing.attempts = make(map[state.Ref]*attempt)
	p.handlers, p.cancel = context.WithCancel(context.WithoutCancel(ctx))
	p.writing, p.abandon = context.WithCancel(context.WithoutCancel(ctx))
	if err := p.recover(ctx); err != nil {
		p.cancel()
		p.abandon()
		return nil, fmt.Errorf("partition %d: %w", cfg.Partition, err)
	}
	p.alarm = cfg.Clock.NewAlarm(p.ring)
	go p.write()
	p.fireOrAim()
	return p, nil
}

// Now is the owner's time.
func (p *Partition) Now() int64 { return p.time.now() }

// Epoch is the number of the takeover.
func (p *Partition) Epoch() uint64 { return p.epoch }

// Get is the timer of a key and the time until it is due, at least 0.
func (p *Partition) Get(key []byte) (value string, remaining time.Duration, ok bool, err error) {
	p.mu.Lock()
	t, ref, ok := p.state.Find(key)
	ok = ok && !t.Dead
	if ok {
		until, wall := p.state.Until(ref)
		now := p.time.now()
		if wall {
			now = p.time.wall()
		}
		value, remaining = t.Value, time.Duration(max(0, instant.Minus(until, now)))
	}
	p.mu.Unlock()
	return value, remaining, ok, p.held()
}

// held is an error if this process is not the owner any more. Whoever reads asks afterwards.
func (p *Partition) held() error {
	p.queue.mu.Lock()
	err := p.queue.closed // reading goes on while the log does not answer
	p.queue.mu.Unlock()
	if err == nil && !p.cfg.Tenure() {
		err = fmt.Errorf("%w: its lease has ended", ErrUnavailable)
	}
	return err
}

// Len is the number of timers that are not dead.
func (p *Partition) Len() (int, error) {
	p.mu.Lock()
	n := p.state.Len()
	p.mu.Unlock()
	return n, p.held()
}

// Stats is a snapshot of counters and numbers.
func (p *Partition) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	return Stats{p.counts, p.state.Len(), len(p.firing.attempts), p.state.Dead(), p.trims.total, p.state.Bytes()}
}

// Stats are what Partition.Stats returns.
type Stats struct {
	Counts
	Pending, Running, Dead int
	LogBytes, LiveBytes    int64
}

// All calls f for all timers that are dead, or all that are not, until it is false.
func (p *Partition) All(dead bool, f func(state.Timer) bool) error {
	p.mu.Lock()
	c := p.state.Cursor()
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		c.Close()
		p.mu.Unlock()
	}()
	for more := true; more; {
		var some []state.Timer
		p.mu.Lock()
		more = c.Take(scanBatch, func(_ state.Ref, t state.Timer) {
			if t.Dead == dead {
				some = append(some, t)
			}
		})
		p.mu.Unlock()
		if err := p.held(); err != nil {
			return err
		}
		for _, t := range some {
			if !f(t) {
				return nil
			}
		}
	}
	return nil
}

// scanBatch is how many records All looks at under one hold of the lock.
const scanBatch = 128

// Shutdown hands over nothing any more, waits for the handlers until ctx is done, ends the
// contexts of those that are left, writes what was asked for until now, and a Close.
func (p *Partition) Shutdown(ctx context.Context) error {
	err := p.stopFiring(ctx)
	p.end()
	return err
}

// Close is Shutdown that does not wait for handlers.
func (p *Partition) Close() {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	_ = p.Shutdown(ended)
}

// closeTime is how long the last frame may take.
const closeTime = 5 * time.Second

// end writes what is in the queue, and ends the writer.
func (p *Partition) end() {
	p.shutting.Do(func() {
		p.queue.close(ErrClosed)
		_ = p.queue.put(item{kind: closed})
		giveUp := time.AfterFunc(closeTime, p.abandon)
		<-p.stopped
		giveUp.Stop()
		p.alarm.Stop()
		p.abandon()
	})
	<-p.stopped
}

// superseded cancels the attempt of a timer that was set, moved or removed. mu is held.
func (p *Partition) superseded(ref state.Ref) {
	if a := p.firing.attempts[ref]; a != nil {
		delete(p.firing.attempts, ref)
		a.cancel()
	}
}
