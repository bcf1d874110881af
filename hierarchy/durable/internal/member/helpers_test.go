package member

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memtable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }

// The lease of the tests: a renewal each 4s, held for 9s, others wait 15s.
const (
	testLease = 12 * time.Second
	testRenew = 4 * time.Second
)

// world is a table and the members that share it, in a bubble.
type world struct {
	*testing.T
	table memtable.Table
	begun time.Time
}

func inWorld(t *testing.T, f func(w *world)) {
	synctest.Test(t, func(t *testing.T) { f(&world{T: t, begun: time.Now()}) })
}

// process is a process with its connection and clock.
type process struct {
	*Member
	w      *world
	store  *memtable.Store
	cfg    Config
	counts [4]atomic.Int64 // of puts, deletes, gets, watches
}

func (w *world) process(id ID) *process {
	p := &process{w: w, store: w.table.Open()}
	p.cfg = Config{Store: p.store, Partitions: 4, Lease: testLease, Renew: testRenew, ID: id,
		Boot: func() time.Duration { return time.Since(w.begun) }}
	p.fail(nil)
	return p
}

// fail has f say what goes wrong with the process's calls. It may be nil.
func (p *process) fail(f func(memtable.Call) memtable.Fault) {
	p.store.SetFault(func(c memtable.Call) memtable.Fault {
		p.counts[map[string]int{"put": 0, "delete": 1, "get": 2, "watch": 3}[c.Op]].Add(1)
		if f == nil {
			return memtable.Fault{}
		}
		return f(c)
	})
}

// join joins, and leaves the lease to run out when the test ends.
func (w *world) join(id ID) *process {
	p := w.process(id)
	p.begin()
	return p
}

func (p *process) begin() {
	m, err := Join(p.w.Context(), p.cfg)
	require.NoError(p.w, err)
	p.Member = m
	p.w.Cleanup(m.Stop)
	synctest.Wait()
}

// at waits until the time since the beginning is d.
func (w *world) at(d time.Duration) {
	w.Helper()
	require.GreaterOrEqual(w, d, time.Since(w.begun))
	time.Sleep(time.Until(w.begun.Add(d)))
	synctest.Wait()
}

// members returns the IDs of those that p knows to live.
func (p *process) members() []ID {
	return p.View().Living()
}

func (p *process) claim(partitions ...int) {
	p.w.Helper()
	for _, n := range partitions {
		require.NoError(p.w, p.Claim(p.w.Context(), n))
		require.True(p.w, p.Owns(n))
	}
	synctest.Wait()
}

// only has f say what goes wrong with calls of that kind.
func only(op string, f memtable.Fault) func(memtable.Call) memtable.Fault {
	return func(c memtable.Call) memtable.Fault {
		if c.Op == op {
			return f
		}
		return memtable.Fault{}
	}
}

// soon is a context that ends after a second.
func (w *world) soon() context.Context {
	ctx, cancel := context.WithTimeout(w.Context(), time.Second)
	w.Cleanup(cancel)
	return ctx
}
