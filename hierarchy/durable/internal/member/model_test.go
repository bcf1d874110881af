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

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/share"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/table"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/table/memory"
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
	table      memory.Table
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
	store  *memory.Store
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

// fault says what goes wrong with a call.
func (p *modelProcess) fault(c memory.Call) (f memory.Fault) {
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
		f.Err = table.ErrRefused
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
		for partition, to := range share.Plan(v.Living(), v.Holders()) {
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

func (m *model) count(n *int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	*n++
}

// check checks that no partition has two owners. It is called whenever that may have become so. A
// lease ends by time alone, so nothing else can happen between two calls.
func (m *model) check() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tally.checks++
	for partition := range m.partitions {
		owners := 0
		for _, p := range m.processes {
			if p.member != nil && p.member.Owns(partition) {
				owners++
			}
		}
		if owners > 1 {
			m.Errorf("%v: %d own partition %d", time.Since(m.begun), owners, partition)
		}
	}
}

// run lets faults happen for some time, then none.
func (m *model) run() {
	for range 40 {
		m.trouble(m.processes[m.r.IntN(len(m.processes))])
		time.Sleep(time.Duration(m.r.Int64N(int64(testLease))))
		m.check()
	}
	m.mu.Lock()
	m.calm = true
	m.mu.Unlock()
	for _, p := range m.processes {
		p.store.Cut(false)
		p.store.Hold(false)
		p.store.Pause(false)
	}
	time.Sleep(8 * testLease)
	synctest.Wait()
	m.isEven()
	for _, p := range m.processes {
		p.cancel()
	}
	m.wg.Wait()
	time.Sleep(3 * testLease) // what is late comes
}

// trouble does something to a process.
func (m *model) trouble(p *modelProcess) {
	on := m.r.IntN(2) == 0
	switch m.r.IntN(12) {
	case 0, 1, 2:
		p.store.Cut(on)
	case 3:
		p.store.Hold(on)
	case 4:
		p.store.Mute()
	case 5, 6:
		p.store.Pause(on)
	case 7, 8:
		m.mu.Lock()
		p.level = m.r.IntN(101)
		m.mu.Unlock()
	case 9: // it is killed, and another comes
		p.cancel()
		m.start()
	case 10: // the table is away
		for _, p := range m.processes {
			p.store.Cut(on)
		}
	case 11:
		m.table.Expire(3 * testLease)
	}
}

// isEven checks that all partitions are owned, and shared as planned.
func (m *model) isEven() {
	owned := make(map[ID]int)
	for partition := range m.partitions {
		owners := 0
		for _, p := range m.processes {
			if p.ctx.Err() == nil && p.member.Owns(partition) {
				owned[p.member.ID()]++
				owners++
			}
		}
		require.Equal(m, 1, owners, "partition %d", partition)
	}
	for _, p := range m.processes {
		if p.ctx.Err() == nil {
			v := p.member.View()
			require.Equal(m, v.Holders(), share.Plan(v.Living(), v.Holders()), "nothing moves any more")
			require.Contains(m, []int{m.partitions / len(v.Members), m.partitions/len(v.Members) + 1}, owned[v.ID])
		}
	}
}
