package member

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memtable"
)

var seeds = flag.Int("seeds", 60, "how many random histories the model test goes through")

// TestModel has some processes share partitions while connections, answers, watches, clocks and
// processes fail. At no instant do two processes own one partition. When the faults have ended, the
// partitions are shared evenly.
func TestModel(t *testing.T) {
	var total tally
	for seed := range uint64(*seeds) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newModel(t, rand.New(rand.NewPCG(seed, 1)))
				m.run()
				total.add(m.tally)
			})
		})
	}
	t.Logf("%+v", total)
	if *seeds >= 20 {
		require.NotZero(t, total.lost)
		require.NotZero(t, total.gave)
		require.NotZero(t, total.took)
	}
}

// tally counts what has happened, so that one can see that the model does something.
type tally struct{ joined, lost, took, gave, doubts, checks int }

func (t *tally) add(o tally) {
	t.joined += o.joined
	t.lost += o.lost
	t.took += o.took
	t.gave += o.gave
	t.doubts += o.doubts
	t.checks += o.checks
}

type model struct {
	*testing.T
	r          *rand.Rand // of the faults, which one goroutine has
	table      memtable.Table
	begun      time.Time
	partitions int
	processes  []*modelProcess
	calm       bool // the faults have ended; guarded by mu
	wg         sync.WaitGroup

	mu    sync.Mutex
	tally tally
}

// modelProcess joins again and again.
type modelProcess struct {
	*model
	store  *memtable.Store
	ctx    context.Context // until it is killed
	cancel context.CancelFunc
	cfg    Config
	odds   *rand.Rand // guarded by model.mu
	level  int        // of faults of calls, in percent; guarded by model.mu

	member *Member // guarded by model.mu
}

func newModel(t *testing.T, r *rand.Rand) *model {
	m := &model{T: t, r: r, begun: time.Now(), partitions: 1 + r.IntN(9)}
	for range 2 + r.IntN(4) {
		m.start()
	}
	return m
}

// start starts another process. Its clock is up to 10 % fast or slow.
func (m *model) start() {
	rate := 0.9 + 0.2*m.r.Float64()
	offset := time.Duration(m.r.Int64N(int64(time.Hour)))
	p := &modelProcess{model: m, store: m.table.Open(), odds: rand.New(rand.NewPCG(m.r.Uint64(), 2))}
	p.ctx, p.cancel = context.WithCancel(m.Context())
	p.cfg = Config{Store: p.store, Partitions: m.partitions, Lease: testLease, Rise: m.check,
		Boot: func() time.Duration { return offset + time.Duration(rate*float64(time.Since(m.begun))) }}
	if m.r.IntN(3) == 0 {
		p.cfg.Lease /= 2
	}
	p.store.SetFault(p.fault)
	m.mu.Lock()
	m.processes = append(m.processes, p)
	m.mu.Unlock()
	m.wg.Go(p.run)
}

// fault returns what goes wrong with a call.
func (p *modelProcess) fault(c memtable.Call) (f memtable.Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.calm || p.odds.IntN(100) >= p.level {
		f.Before = time.Duration(p.odds.IntN(20)) * time.Millisecond
		f.After = time.Duration(p.odds.IntN(20)) * time.Millisecond
		return f
	}
	long := func() time.Duration { return time.Duration(p.odds.Int64N(int64(2 * testLease))) }
	switch p.odds.IntN(8) {
	case 0:
		f.Before = long()
	case 1:
		f.After = long()
	case 2:
		f.Drop = true
	case 3:
		f.Lose = true
	case 4:
		f.Err = errors.New("failed")
	case 5:
		f.Drop, f.Err = true, errors.New("failed")
	case 6:
		f.Err = storage.ErrRefused
	case 7:
		f.Behind = p.odds.Uint64N(20)
	}
	return f
}

// run is the life of a process.
func (p *modelProcess) run() {
	for p.ctx.Err() == nil {
		m, err := Join(p.ctx, p.cfg)
		if err != nil {
			continue
		}
		p.mu.Lock()
		p.member = m
		p.tally.joined++
		p.mu.Unlock()
		p.share(m)
		m.Stop()
	}
}

// share shares the partitions until the lease is lost.
func (p *modelProcess) share(m *Member) {
	for {
		v := m.View()
		again := testLease // something may be in doubt
		for partition, to := range v.Plan() {
			if p.decide(m, partition, v.Claims[partition], to) != nil {
				again = testLease / 10
			}
		}
		select {
		case <-time.After(again):
		case <-m.Changed():
		case <-m.Lost():
			p.count(&p.tally.lost)
			return
		case <-p.ctx.Done():
			return
		}
	}
}

// decide claims or gives one partition, as the plan says.
func (p *modelProcess) decide(m *Member, partition int, c Claim, to ID) (err error) {
	p.mu.Lock()
	patience := time.Duration(p.odds.Int64N(int64(testLease)))
	p.mu.Unlock()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	switch {
	case to == m.ID(): // also if it is in doubt whether it was given
		if c.Free || c.Holder == m.ID() {
			if err = m.Claim(ctx, partition); err == nil && c.Holder != m.ID() {
				p.count(&p.tally.took)
			}
		}
	case c.Holder == m.ID() && to != 0:
		if err = m.Give(ctx, partition, to); err == nil {
			p.count(&p.tally.gave)
		}
	}
	if err != nil && !errors.Is(err, ErrNotFree) && !errors.Is(err, ErrNotMine) && !errors.Is(err, ErrLost) {
		p.count(&p.tally.doubts)
	}
	return err
}
