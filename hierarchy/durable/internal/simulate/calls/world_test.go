package calls

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/remote"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/membus"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memlog"
)

// clients is how many processes ask.
const clients = 2

// world is a log, and who uses it.
type world struct {
	t      testing.TB
	seed   uint64
	begun  time.Time
	disk   memlog.Disk
	net    membus.Net
	part   partition.Config
	small  bool                 // the log takes only small messages at times
	rate   int                  // one message, or append, in so many meets a fault
	tenure time.Duration        // an owner's at most
	askers int                  // of each client
	idle   [clients]atomic.Bool // the client asks for nothing
	healed atomic.Bool          // nothing goes wrong any more
	owner  *owner               // the present one; only ownInTurn uses it, and then simulate

	mu      sync.Mutex // guards what follows
	r       *rand.Rand
	clients [clients]*client
	asked   []*asked
	log     map[string][]entry // what the log has had, by the keys of operations
	read    uint64             // the last frame that was looked at
	wrongs  []string
	events  []string
}

// client is a process that asks.
type client struct {
	*remote.Client
	bus   *membus.Bus
	n     int
	owned atomic.Pointer[partition.Partition] // if the process owns the log, as far as it knows
}

// entry is an operation in the log.
type entry struct {
	kind  frame.Kind
	frame uint64
	id    frame.ID
	due   int64
}

func newWorld(t testing.TB, seed uint64) *world {
	w := &world{t: t, seed: seed, begun: time.Now(), r: rand.New(rand.NewPCG(seed, 0)), log: make(map[string][]entry)}
	w.rate = []int{4, 15, 50}[w.r.IntN(3)]
	w.tenure = []time.Duration{10 * time.Second, 30 * time.Second, 100 * time.Second}[w.r.IntN(3)]
	w.part = partition.Config{
		Partitions: 1, Clock: clock.System(), Precision: time.Millisecond, Crew: partition.NewCrew(1),
		Config: core.Config{MaxAttempts: 1, Backoff: func(int) time.Duration { return time.Hour }},
		Logger: slog.New(slog.DiscardHandler), Owner: "simulated",
		Handle: func(context.Context, core.Firing) error { return nil },
	}
	w.askers = []int{4, 12}[w.r.IntN(2)] // with 12 there are several calls in a message
	// Copies come when their clients were forgotten, or even first copies, so calls may fail by that.
	w.part.Remember = []time.Duration{0, giveUp / 2, 150 * time.Second}[w.r.IntN(3)]
	if w.r.IntN(2) == 0 {
		w.part.TrimAbove = 2000
	}
	w.small = w.r.IntN(3) == 0
	w.net.SetFate(w.fate)
	return w
}

// branch returns another source of chance, for one goroutine.
func (w *world) branch() *rand.Rand {
	w.mu.Lock()
	defer w.mu.Unlock()
	return rand.New(rand.NewPCG(w.r.Uint64(), 1))
}

func (w *world) intN(n int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.r.IntN(n)
}

// upTo returns a time below most.
func (w *world) upTo(most time.Duration) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Duration(w.r.Int64N(int64(most)))
}

func (w *world) note(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, fmt.Sprint(time.Since(w.begun), " ", fmt.Sprintf(format, args...)))
}

func (w *world) wrong(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wrongs = append(w.wrongs, fmt.Sprintf(format, args...))
}

// look records what has come into the log, before anything is deleted. It returns the number of the last frame.
func (w *world) look() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	log := w.disk.Copy().Open()
	b, err := log.Bounds(context.Background())
	if err != nil || b.First > w.read+1 {
		w.wrongs = append(w.wrongs, fmt.Sprint("judge: the log begins with ", b.First, ", after ", w.read, ": ", err))
		return w.read
	}
	for data := range log.Read(context.Background(), w.read+1, b.Last) {
		w.read++
		f, err := frame.Parse(data)
		if err != nil || f.Number != w.read { // a stranger's
			continue
		}
		for op := range f.Ops() {
			switch op.Kind {
			case frame.Set, frame.SetAt, frame.Remove:
				key := string(op.Key)
				w.log[key] = append(w.log[key], entry{op.Kind, f.Number, op.ID, op.Due})
			}
		}
	}
	return w.read
}
