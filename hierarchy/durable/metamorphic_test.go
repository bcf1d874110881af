package durable

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/membus"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memlog"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memtable"
	"github.com/epicycle-go/epicycle/tests/long"
)

var programs = flag.Int("programs", long.Or(3, 60), "how many random programs run on all kinds of storage")

// The same operations have the same answers, and the same timers fire, whatever keeps them: a directory, or processes that
// share one partition or eight, which are asked in turn; and whether all begin anew in between or not.
func TestSameEverywhere(t *testing.T) {
	for seed := range uint64(*programs) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			want := program(t, seed, &place{dir: t.TempDir()})
			require.Equal(t, want, program(t, seed, &place{dir: t.TempDir(), restarts: true}), "restarts")
			for _, partitions := range []int{1, 8} {
				for _, restarts := range []bool{false, true} {
					got := program(t, seed, &place{partitions: partitions, processes: 1 + partitions/8, restarts: restarts})
					require.Equal(t, want, got, "%d partitions, restarts: %v", partitions, restarts)
				}
			}
		})
	}
}

// place is what keeps the timers.
type place struct {
	dir                   string // or
	partitions, processes int
	restarts              bool

	t     *testing.T
	mock  *clock.Mock
	disks []*memlog.Disk
	table memtable.Table
	net   membus.Net
	all   []*Keyed[string, string]

	mu    sync.Mutex
	fired []string
}

func (p *place) config() Config[string, string] {
	return Config[string, string]{Clock: p.mock, Handle: p.handle, MaxAttempts: 3,
		Backoff: func(int) time.Duration { return 3 * time.Second }}
}

// handle fails now and then, but in all places for the same attempts.
func (p *place) handle(_ context.Context, f Firing[string, string]) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	what := fmt.Sprintf("%s %s, due %v, attempt %d, missed %d", f.Key, f.Value, p.since(f.Due), f.Attempt, f.Missed)
	p.fired = append(p.fired, fmt.Sprintf("%v: %s", p.since(p.mock.Now()), what))
	h := fnv.New32()
	h.Write([]byte(what))
	if h.Sum32()%3 == 0 {
		return errors.New("fails: " + what)
	}
	return nil
}

var beginning = time.Date(2030, time.January, 1, 0, 0, 0, 0, time.UTC)

func (p *place) since(at time.Time) time.Duration {
	if at.IsZero() {
		return -1
	}
	return at.Sub(beginning)
}

// open opens all processes.
func (p *place) open() {
	if p.dir != "" {
		cfg := p.config()
		cfg.Dir = p.dir
		w, err := Open(p.t.Context(), cfg)
		require.NoError(p.t, err)
		p.all = append(p.all, w)
		return
	}
	for len(p.disks) < p.partitions {
		p.disks = append(p.disks, new(memlog.Disk))
	}
	for range p.processes {
		p.all = append(p.all, p.share())
	}
}

// share opens a process that shares the partitions.
func (p *place) share() *Keyed[string, string] {
	cfg := p.config()
	cfg.Conn, cfg.Partitions = new(nats.Conn), p.partitions // nothing connects
	w, err := newKeyed(cfg)
	require.NoError(p.t, err)
	set := storage.Set{Partitions: p.partitions, Table: p.table.Open(), Bus: p.net.Connect()}
	for _, d := range p.disks {
		set.Logs = append(set.Logs, d.Open())
	}
	shared := w.config()
	w.owners, err = shared.open(p.t.Context(), set)
	require.NoError(p.t, err)
	return w
}

func (p *place) close() {
	for _, w := range p.all {
		require.NoError(p.t, w.Shutdown(p.t.Context()))
	}
	p.all = nil
}

// program runs random operations, and returns their answers and what has fired.
func program(t *testing.T, seed uint64, p *place) (trace []string) {
	p.t, p.mock = t, clock.NewMock()
	p.mock.Set(beginning)
	p.open()
	defer func() { p.close() }()
	r := rand.New(rand.NewPCG(seed, 11))
	for n := range 150 {
		step := rand.New(rand.NewPCG(r.Uint64(), 12))
		switch step.IntN(8) {
		case 0:
			p.mock.Add(time.Duration(step.IntN(20_000)) * time.Millisecond)
			trace = append(trace, p.taken()...)
		case 1:
			if p.restarts && step.IntN(2) == 0 {
				p.close()
				p.open()
			}
			trace = append(trace, p.listed()...)
		default:
			trace = append(trace, fmt.Sprintf("%d: %s", n, p.operation(p.all[n%len(p.all)], n, step)))
		}
	}
	return append(trace, p.listed()...)
}

// taken returns what has fired, in an order.
func (p *place) taken() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	fired := p.fired
	p.fired = nil
	slices.Sort(fired)
	return fired
}

// listed returns all timers.
func (p *place) listed() (all []string) {
	for e, err := range p.all[0].Scan(p.t.Context(), Query{}) {
		require.NoError(p.t, err)
		all = append(all, p.described(e))
	}
	n, err := p.all[0].Len(p.t.Context())
	require.NoError(p.t, err)
	return append(all, fmt.Sprint(n))
}

func (p *place) described(e Entry[string, string]) string {
	return fmt.Sprintf("%s %s, due %v, attempt %d, next %v, state %v, schedule %v, failed %v with %q", e.Key, e.Value,
		p.since(e.Due), e.Attempt, p.since(e.Next), e.State, e.Schedule, p.since(e.LastFailed), e.LastError)
}

// operation carries out one operation, and returns its answer.
func (p *place) operation(w *Keyed[string, string], n int, r *rand.Rand) string {
	ctx, key, value := p.t.Context(), fmt.Sprint("k", r.IntN(12)), fmt.Sprint("v", n)
	d := time.Duration(r.IntN(30_000)) * time.Millisecond
	at := p.mock.Now().Add(d)
	entry := func(e Entry[string, string], ok bool, err error) string {
		require.NoError(p.t, err)
		return fmt.Sprint(ok, p.described(e))
	}
	text := func(v string, ok bool, err error) string {
		require.NoError(p.t, err)
		return fmt.Sprint(ok, v)
	}
	made := func(e Entry[string, string], err error) string { return entry(e, true, err) }
	switch r.IntN(14) {
	case 0:
		return made(w.Set(ctx, key, value, d))
	case 1:
		return made(w.SetAt(ctx, key, value, at))
	case 2:
		return entry(w.SetIfAbsent(ctx, key, value, d))
	case 3:
		return entry(w.SetSooner(ctx, key, value, d))
	case 4:
		return entry(w.SetAtLater(ctx, key, value, at))
	case 5:
		return entry(w.Move(ctx, key, d))
	case 6:
		return entry(w.MoveAt(ctx, key, at))
	case 7:
		return text(w.Remove(ctx, key))
	case 8:
		return text(w.Swap(ctx, key, value, d))
	case 9:
		return entry(w.ReviveEntry(ctx, key))
	case 10:
		return made(w.SetDebounced(ctx, key, value, d/2, d+1))
	case 11:
		return entry(w.RemoveEntry(ctx, key))
	case 12:
		s, err := ParseSchedule([]string{"@every 7s", "MISSED=all */5 * * * * *", "MISSED=skip * * * * *"}[r.IntN(3)])
		require.NoError(p.t, err)
		return made(w.SetSchedule(ctx, key, value, s))
	}
	v, remaining, ok, err := w.Get(ctx, key)
	return text(fmt.Sprint(v, remaining), ok, err)
}
