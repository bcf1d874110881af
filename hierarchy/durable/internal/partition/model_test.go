package partition

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memlog"
)

var seeds = flag.Int("seeds", 12, "how many random histories the model test goes through")

// Random operations, faults of the log, deaths of the process and losses of power, against a model
// that knows what was begun and what was acknowledged.
func TestModel(t *testing.T) {
	for seed := range *seeds {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			m := newModel(t, uint64(seed))
			for range 400 {
				m.step()
			}
			m.finish()
		})
	}
}

// entry is a timer as the model knows it.
type entry struct {
	value string
	due   time.Duration // elapsed time of the mock
	dead  bool
	fires int // attempts that were seen

	debounced bool
	since     time.Duration
}

// model has, for each key, what the partition may have: one possibility if all was acknowledged.
// A nil entry is no timer.
type model struct {
	*bench
	rand   *rand.Rand
	keys   map[string][]*entry
	values int
	ids    map[frame.ID]string // the key and value of each ID
	died   bool                // the process
	faulty atomic.Bool         // the log
	faults *rand.Rand          // used by the log
	opens  int
}

func newModel(t *testing.T, seed uint64) *model {
	m := &model{bench: newBench(t), rand: rand.New(rand.NewPCG(seed, 7)),
		keys: map[string][]*entry{}, ids: map[frame.ID]string{}, faults: rand.New(rand.NewPCG(seed, 8))}
	m.cfg.TrimAbove = 300
	m.cfg.MaxAttempts = 3
	m.cfg.MarkEvery = time.Microsecond
	m.handle = m.handler
	m.start()
	return m
}

func (m *model) start() {
	m.faulty.Store(false)
	m.open()
	m.opens++
	m.log.SetFault(func([]byte) memlog.Fault {
		if !m.faulty.Load() {
			return memlog.None
		}
		return memlog.Fault(m.faults.IntN(int(memlog.Stranger) + 1))
	})
}

// die ends the process at a random moment of what is under way: at its next append, before or
// after it comes to the disk.
func (m *model) die() {
	p, log := m.p, m.log
	after := m.rand.IntN(2) == 0
	log.SetFault(func([]byte) memlog.Fault {
		go func() { log.Close(); p.writer.abandon() }()
		if after {
			return memlog.Silence
		}
		return memlog.Drop
	})
	m.died = true
}

// reopen opens the partition after a death, and finds out what was committed.
func (m *model) reopen() {
	if m.p != nil {
		m.crash()
	}
	if m.rand.IntN(2) == 0 {
		m.disk.LosePower()
	} else {
		m.disk.Arrive()
	}
	m.died = false
	m.start()
	m.compare()
}

func (m *model) step() {
	key := fmt.Sprint(m.rand.IntN(12))
	if m.rand.IntN(15) == 0 {
		m.die()
	}
	m.faulty.Store(m.rand.IntN(8) == 0)
	switch m.rand.IntN(16) {
	case 0, 1, 2:
		m.opSet(key)
	case 3:
		m.opMove(key)
	case 4:
		m.opRemove(key)
	case 5:
		m.opRevive(key)
	case 6, 7:
		m.pass(time.Duration(m.rand.IntN(3000)) * time.Millisecond)
	case 8:
		if m.rand.IntN(5) == 0 && !m.died {
			m.shut()
			m.died = true
		}
	case 9:
		m.compare()
	case 10:
		m.opBatch()
	case 11, 12:
		m.opSetIf(key)
	case 13:
		m.opWhole(key)
	case 14, 15:
		m.opDebounced(key)
	}
	m.faulty.Store(false)
	if m.died {
		m.reopen()
	}
}

// asked calls for an operation. A process that dies does not answer. asked returns nil then.
func (m *model) asked(a core.Op) *core.Call {
	c := &core.Call{Ops: []core.Op{a}}
	if err := m.p.Do(m.t.Context(), c); err != nil {
		m.True(m.died, "%v", err)
		return nil
	}
	return c
}

// ask is asked, and returns whether the operation was committed.
func (m *model) ask(a core.Op) (took *bool) {
	if c := m.asked(a); c != nil {
		took = &c.Took[0]
	}
	return took
}

// made finds that an operation has answered with the ID and the due time of the timer that it has made.
func (m *model) made(key string, c *core.Call, due time.Duration) {
	m.Equal(int64(due), c.Ops[0].Due)
	if t, ok, err := m.listed(key); err == nil && !m.died { // a process that dies may have answered before
		m.True(ok)
		m.Equal(t.ID, c.First)
		m.Equal(t.Due, c.Ops[0].Due)
	}
}

func (m *model) opSet(key string) {
	m.values++
	d := time.Duration(m.rand.IntN(4000)) * time.Millisecond
	e := entry{value: fmt.Sprint("v", m.values), due: m.mock.Elapsed() + d}
	a := core.Op{Kind: frame.Set, Key: []byte(key), Value: []byte(e.value), In: d}
	if m.rand.IntN(3) == 0 {
		a.Kind, a.Due = frame.SetAt, m.mock.Now().Add(d).UnixNano()
	}
	c := m.asked(a)
	m.maybe(key, c != nil, func(*entry) *entry { c := e; return &c })
	if c != nil {
		m.True(c.Took[0])
		m.made(key, c, e.due)
	}
}

func (m *model) opMove(key string) {
	d := time.Duration(m.rand.IntN(4000)) * time.Millisecond
	was := m.only(key)
	a := core.Op{Kind: frame.Move, Whole: true, Key: []byte(key), In: d}
	if m.rand.IntN(2) == 0 {
		a.Kind, a.Due = frame.MoveAt, m.mock.Now().Add(d).UnixNano()
	}
	c := m.asked(a)
	can := was != nil && !was.dead
	if c != nil {
		m.Equal(can, c.Took[0])
	}
	if can && c != nil {
		t, ok := core.Was(c.Values[0])
		m.True(ok)
		m.Equal(was.value, t.Value)
		m.made(key, c, m.mock.Elapsed()+d)
	}
	if can {
		m.maybe(key, c != nil, func(e *entry) *entry {
			return &entry{value: e.value, due: m.mock.Elapsed() + d}
		})
	}
}

func (m *model) opRemove(key string) {
	was := m.only(key)
	c := &core.Call{Ops: []core.Op{{Kind: frame.Remove, Key: []byte(key)}}}
	err := m.p.Do(m.t.Context(), c)
	if err == nil {
		m.Equal(was != nil, c.Took[0])
		if was != nil {
			m.Equal([]string{was.value}, c.Values)
		}
	} else {
		m.True(m.died)
	}
	m.maybe(key, err == nil, func(*entry) *entry { return nil })
}

func (m *model) opRevive(key string) {
	was := m.only(key)
	took := m.ask(core.Op{Kind: frame.Revive, Key: []byte(key)})
	can := was != nil && was.dead
	if took != nil {
		m.Equal(can, *took)
	}
	if can {
		m.maybe(key, took != nil, func(e *entry) *entry { return &entry{value: e.value, due: m.mock.Elapsed()} })
	}
}

// handler is called inside pass. What it is called with must be possible.
func (m *model) handler(_ context.Context, f core.Firing) error {
	possible := m.possible(f.Key)
	i := slices.IndexFunc(possible, func(e *entry) bool { return e != nil && e.value == f.Value && !e.dead && int64(e.due) == f.Due })
	m.GreaterOrEqual(i, 0, "%s fires with %s", f.Key, f.Value)
	e := possible[i]
	m.GreaterOrEqual(m.mock.Elapsed(), e.due, "%s is early", f.Key)
	m.LessOrEqual(int(f.Attempt), e.fires+1+m.opens)
	m.LessOrEqual(int(f.Attempt), m.cfg.MaxAttempts)
	what := fmt.Sprint(f.Key, " ", f.Value) // Revive gives another due time
	if was, ok := m.ids[f.ID]; ok {
		m.Equal(was, what, "an ID is used twice")
	}
	if e.fires == 0 {
		e.fires = 1
	}
	if m.rand.IntN(3) == 0 {
		e.fires = int(f.Attempt)
		dead := *e
		dead.dead = true
		m.keys[f.Key] = []*entry{e}
		if int(f.Attempt) == m.cfg.MaxAttempts {
			m.keys[f.Key] = []*entry{&dead, e}
		}
		return errHandler
	}
	m.ids[f.ID] = what
	m.keys[f.Key] = []*entry{nil, e}
	return nil
}
