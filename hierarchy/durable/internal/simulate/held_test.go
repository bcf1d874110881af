package simulate

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/membus"
)

// holding is what is known of messages that the network holds for a while. They arrive when their process has been
// replaced, its lease has ended, or whoever waited for them has given up.
type holding struct {
	mu     sync.Mutex
	times  map[int][]time.Time // when they were sent, by the bus
	copies map[int][]time.Time // when those were sent of which a copy is held, by the bus

	// All messages of a bus are held for as long, if bus is not 0.
	bus, long atomic.Int64
}

// longHeld is how long a message is held at most.
const longHeld = 3 * giveUp

// hold changes the fate of a message: it is held, or a copy of it.
func (h *holding) hold(from *membus.Bus, chance *chance, f *membus.Fate) {
	if chance.intN(2) == 0 {
		f.Again = h.copyOf(from, someLong(chance))
	} else {
		f.After = h.delay(from, chance)
	}
}

// someLong returns how long a message is held.
func someLong(chance *chance) time.Duration {
	return slowMessage + chance.upTo([]time.Duration{lease, longHeld}[chance.intN(2)])
}

// delay returns how long a message is held, and records that it is.
func (h *holding) delay(from *membus.Bus, chance *chance) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	note(&h.times, from)
	return someLong(chance)
}

// copyOf records that a copy of a message is held for a time.
func (h *holding) copyOf(from *membus.Bus, long time.Duration) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	note(&h.copies, from)
	return long
}

func note(times *map[int][]time.Time, from *membus.Bus) {
	if *times == nil {
		*times = make(map[int][]time.Time)
	}
	(*times)[from.Number] = append((*times)[from.Number], time.Now())
}

// any reports whether a message was held that a process has sent in a time.
func (h *holding) any(p *worker, from, to time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return anyIn(h.times[p.bus.Number], from, to)
}

// anyCopy reports whether a message was held that a process has sent in a time, or a copy of one.
func (h *holding) anyCopy(p *worker, from, to time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return anyIn(h.times[p.bus.Number], from, to) || anyIn(h.copies[p.bus.Number], from, to)
}

func anyIn(times []time.Time, from, to time.Time) bool {
	return slices.ContainsFunc(times, func(at time.Time) bool { return !at.Before(from) && !at.After(to) })
}

// holdMessages has the network hold all that a process sends while it sets timers, and moves some. It knows the owners'
// clocks, or has not asked for so long that it asks again first, so the durations count from the calls.
func (w *world) holdMessages(ctx context.Context) {
	w.rounds++
	p, long := w.calling[w.chance.intN(callers)], slowMessage+w.chance.upTo(lease/2)
	keys := w.beforeHeld(ctx, p, long)
	w.holdAll(p, long)
	begun := time.Now()
	var wg sync.WaitGroup
	var due sync.Map
	for i, key := range keys {
		op := core.Op{Kind: frame.Set, In: w.chance.upTo(lease)}
		if i < partitions {
			op.Kind = frame.Move
		}
		wg.Go(func() {
			_, err := do(ctx, p.api(), key, op)
			w.nothingFails(err)
			due.Store(key, latestOf(op.In, time.Since(begun), long))
		})
	}
	wg.Wait()
	w.holdNone()
	time.Sleep(2 * lease)
	w.mu.Lock()
	defer w.mu.Unlock()
	for key, most := range due.Range {
		if all := w.firings[key.(string)]; len(all) == 0 || all[0].at.Sub(begun) > most.(time.Duration)+prompt {
			w.wrong("late: %q fires later than %v after its call, which the network has held for %v", key, most, long)
		}
	}
}

// beforeHeld has a process compare the owners' clocks, unless that is too long ago then. It returns the keys of timers, of which
// the first are there to be moved.
func (w *world) beforeHeld(ctx context.Context, p *worker, long time.Duration) (keys [3 * partitions]string) {
	if w.chance.intN(2) == 0 { // by calls that take long, and then by quick ones
		w.holdAll(p, long)
		w.callAll(ctx, p)
		w.holdNone()
	}
	w.callAll(ctx, p)
	for i := range keys {
		if keys[i] = fmt.Sprintf("held %d 1%d %d", w.rounds, i, i%partitions); i >= partitions {
			continue
		}
		_, err := do(ctx, w.any(w.chance.branch()).api(), keys[i], core.Op{Kind: frame.Set, In: 1000 * time.Hour})
		w.nothingFails(err)
	}
	if w.chance.intN(2) == 0 {
		time.Sleep(young)
	}
	return keys
}

// holdAll has the network hold each message of a process for a time.
func (w *world) holdAll(p *worker, long time.Duration) {
	w.held.long.Store(int64(long))
	w.held.bus.Store(int64(p.bus.Number))
}

// holdNone ends that: what becomes of its messages is chance again.
func (w *world) holdNone() { w.held.bus.Store(0) }

// callAll has a process call each partition at once.
func (w *world) callAll(ctx context.Context, p *worker) {
	var wg sync.WaitGroup
	for at := range partitions {
		wg.Go(func() {
			_, err := do(ctx, p.api(), fmt.Sprintf("held %d 0 %d", w.rounds, at), core.Op{Kind: frame.Set})
			w.nothingFails(err)
		})
	}
	wg.Wait()
}

// latestOf returns after which time a timer begins at most whose call has taken a time, while the network held each message
// for long. If the process had to ask for the owner's clock, since one of the clocks was set, the answer took as long.
func latestOf(in, took, long time.Duration) time.Duration {
	if took > 2*long {
		in += long
	}
	return max(in, took)
}

// nothingFails records an error of a call while nothing fails.
func (w *world) nothingFails(err error) {
	if err != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.wrong("error: %v, though nothing fails", err)
	}
}
