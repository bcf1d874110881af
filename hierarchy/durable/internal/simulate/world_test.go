package simulate

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition/partitiontest"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/membus"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memlog"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memtable"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/steps"
)

const (
	partitions = 4
	workers    = 3
	callers    = 2 // processes that own nothing
	lease      = 10 * time.Second
)

// mostDisk is how much a log can have. A sixteenth of it is deleted at once.
const mostDisk = 100_000

// world is what the processes share.
type world struct {
	t     testing.TB
	seed  uint64
	begun time.Time
	took  time.Duration
	net   membus.Net
	table memtable.Table
	disks [partitions]*memlog.Disk

	held    holding
	chance  chance
	chances chances
	hit     [partitions]atomic.Bool // something happens to the log
	slow    [partitions]atomic.Bool // many appends to the log arrive late
	small   [partitions]small
	elects  [partitions]atomic.Bool // the log has no leader, or one that is about to be replaced
	once    [partitions]atomic.Bool // the log falls silent after the next append
	rounds  int                     // that were calm
	asked   atomic.Uint64           // how many calls were made
	healed  atomic.Bool             // nothing goes wrong any more
	little  atomic.Bool             // but little troubles

	mu      sync.Mutex // guards what follows
	living  []*worker  // the processes that own partitions
	calling []*worker  // those that only call
	firings map[string][]*firing
	epochs  [partitions]uint64 // of the last owner that has begun
	logs    [partitions]logged
	// takeovers are those that were acknowledged, by their epochs
	takeovers [partitions]map[uint64]takeover
	stood     time.Duration // for how long a process has stood still at most, in all
	punctual  int           // how many timers nothing has held up
	wrongs    []string      // promises that did not hold
	timers    map[string]*timer
	batches   [][]string // the keys of timers that were set by one call
	paused    map[string][]pause
	events    []string
	happening []int       // by fault: how many of them happen
	pairs     steps.Pairs // of faults that have happened at the same time

	history partitiontest.History
}

// timer is one that no other caller knows.
type timer struct {
	in              time.Duration // 0 if it is due at a wall time
	begun, answered time.Time
	rate            float64   // of the clock of the process that sets it
	caller          *worker   // that process
	unknown         bool      // an answer was lost
	refused         bool      // it was not set, as the error says
	twice           bool      // it may be set twice by one call: see setOnce
	id              frame.ID  // by the answer, unless that was lost
	removed         time.Time // when its Remove was answered, or zero
	untouched       uint64    // the frame with its Remove, whose answer says that no attempt has begun, or 0
}

func newWorld(t testing.TB, seed uint64) *world {
	w := &world{t: t, seed: seed, begun: time.Now(),
		firings: make(map[string][]*firing), timers: make(map[string]*timer), paused: make(map[string][]pause),
		happening: make([]int, len(faults)), pairs: steps.Pairs{Of: len(faults)}}
	w.chance.r, w.chances.seed = rand.New(rand.NewPCG(seed, 0)), seed
	for i := range w.disks {
		w.disks[i], w.takeovers[i] = new(memlog.Disk), make(map[uint64]takeover)
		w.disks[i].SetMost(mostDisk)
		w.logs[i].begins, w.logs[i].sent = make(map[begin]bool), make(map[uint32]sent)
		w.logs[i].dues = make(map[uint64]int64)
	}
	w.net.SetFate(w.fate)
	w.net.SetDelay(w.delay)
	return w
}

// announces reports whether timers are announced.
func (w *world) announces() bool { return w.seed%3 == 0 }

// remembered is the time for which callers are remembered in some histories: that of a call, after a pause in which its
// process need not ask for the time of the log, and no more. Copies that the network holds come later. The first request
// of a process must come into the log within half of that, so some end with an error that would not by default.
const remembered = giveUp * 5 / 2

// forgets reports whether callers are forgotten so soon that copies of their requests come later.
func (w *world) forgets() bool { return w.seed%2 == 1 }

// note records what has happened, for whoever looks for the reason of a failure.
func (w *world) note(event string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, time.Since(w.begun).Round(time.Millisecond).String()+" "+event)
}

// wrong records that a promise did not hold.
func (w *world) wrong(format string, a ...any) {
	w.wrongs = append(w.wrongs, time.Since(w.begun).String()+" "+fmt.Sprintf(format, a...))
}

// chance draws numbers. Its methods may be called concurrently.
type chance struct {
	mu sync.Mutex
	r  *rand.Rand
}

func (c *chance) intN(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.r.IntN(n)
}

// upTo returns a time below most.
func (c *chance) upTo(most time.Duration) time.Duration { return time.Duration(c.intN(int(most))) }

// chances are sources of chance for each process, for its messages, and for each log, so that a seed means nearly the same
// although goroutines take turns by chance: what one draws does not change what others will.
type chances struct {
	mu   sync.Mutex
	seed uint64
	all  map[source]*chance
}

// source names a source of chance.
type source struct {
	kind string
	n    int
}

func (c *chances) of(kind string, n int) *chance {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil {
		c.all = make(map[source]*chance)
	}
	name := source{kind, n}
	if c.all[name] == nil {
		h := fnv.New64a()
		fmt.Fprint(h, kind, n)
		c.all[name] = &chance{r: rand.New(rand.NewPCG(c.seed, h.Sum64()))}
	}
	return c.all[name]
}

// branch returns another source of chance, for one goroutine.
func (c *chance) branch() *rand.Rand {
	c.mu.Lock()
	defer c.mu.Unlock()
	return rand.New(rand.NewPCG(c.r.Uint64(), 1))
}
