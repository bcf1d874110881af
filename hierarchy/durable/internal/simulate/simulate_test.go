package simulate

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/leak"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/testkit/steps"
	"github.com/epicycle-go/epicycle/tests/long"
)

var histories, first = steps.Flags(long.Or(few, 300))

var span = flag.Duration("span", 10*time.Minute, "how long each history is, in virtual time")

func TestMain(m *testing.M) { leak.Main(m) }

// In each history, processes come and go, are killed and cut off, logs and the table fail, and messages are lost, late
// and doubled. Operations on a key are committed in one order, and each timer fires unless it was removed, never before
// its time, and by one owner after the other. A schedule's runs are neither skipped nor doubled. Once faults end, timers
// are on time.
func TestHistories(t *testing.T) {
	var total sum
	for i := range uint64(*histories) {
		seed := *first + i
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			defer steps.Watch(t.Name())()
			synctest.Test(t, func(t *testing.T) { total.add(simulate(t, seed)) })
		})
	}
	t.Log(total.Tally)
	t.Log(total.pairs)
	if *histories >= 10 && !t.Failed() {
		require.NotZero(t, total.punctual)
	}
}

// sum is what histories had.
type sum struct {
	steps.Tally
	pairs    steps.Pairs
	punctual int // how many timers nothing has held up
}

func (s *sum) add(w *world) {
	s.Tally.Add(steps.Tally{Histories: 1, Time: w.took, Operations: int(w.asked.Load()), Faults: len(w.events)})
	s.pairs.Join(w.pairs)
	s.punctual += w.punctual
}

func simulate(t *testing.T, seed uint64) *world {
	w := newWorld(t, seed)
	defer w.close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for range workers {
		w.replace(ctx)
	}
	for range callers {
		for w.appear(ctx) != nil {
			time.Sleep(time.Second)
		}
	}
	require.Len(t, w.living, workers)
	w.repeat(ctx, w.chance.branch())
	defer w.explain()
	for range rounds {
		w.healed.Store(false)
		w.beFaulty(ctx, time.Now().Add(*span/rounds))
		w.calm(ctx)
	}
	w.leaveAll(ctx)
	w.checkGoroutines()
	w.judge()
	w.took = time.Since(w.begun)
	return w
}

// rounds is how often faults end, and begin again.
const rounds = 2

// beFaulty asks for operations while faults happen.
func (w *world) beFaulty(ctx context.Context, end time.Time) {
	var wg sync.WaitGroup
	for caller := range 6 {
		r := w.chance.branch()
		wg.Go(func() { w.ask(ctx, caller, r, end) })
	}
	for at := range partitions {
		r := w.chance.branch()
		wg.Go(func() { w.pauses(ctx, at, r, end) })
	}
	for range 2 {
		r := w.chance.branch()
		wg.Go(func() {
			for time.Now().Before(end) {
				time.Sleep(time.Duration(r.Int64N(int64(2 * lease))))
				own := rand.New(rand.NewPCG(r.Uint64(), 1))
				wg.Go(func() { w.disturb(ctx, own) })
			}
		})
	}
	wg.Wait()
}

// ended reports whether all processes have ended.
func (w *world) ended() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.living)+len(w.calling) == 0
}

// close ends all processes.
func (w *world) close() {
	w.mu.Lock()
	all := append(w.living, w.calling...)
	w.living, w.calling = nil, nil
	w.mu.Unlock()
	for _, p := range all {
		p.close()
	}
	time.Sleep(10 * time.Minute) // what was killed notices that it is dead
}
