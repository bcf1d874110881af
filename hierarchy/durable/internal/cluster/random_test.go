package cluster

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition/partitiontest"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memlog"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memtable"
)

var seeds = flag.Int("seeds", 3, "how many random histories the test goes through")

// Processes come and go, are killed and cut off, and logs and table have faults. Others only call. Operations on few
// keys are committed in one order for each key. Timers of many keys fire until their handlers have
// returned nil, and not once they were removed.
func TestRandomHistories(t *testing.T) {
	for seed := range uint64(*seeds) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			h := &history{world: newWorld(t), timers: make(map[string]*timer)}
			h.rand = rand.New(rand.NewPCG(seed, 0))
			for range 3 {
				h.rise()
			}
			for range 2 {
				h.callers = append(h.callers, h.openCaller())
			}
			var wg sync.WaitGroup
			for caller := range 6 {
				wg.Go(func() { h.call(caller, rand.New(rand.NewPCG(seed, uint64(caller+1)))) })
			}
			ended := make(chan bool)
			go func() { wg.Wait(); close(ended) }()
			for over := false; !over; {
				select {
				case <-ended:
					over = true
				case <-time.After(time.Duration(h.rand.IntN(100)) * time.Millisecond):
					h.disturb()
				}
			}
			h.judge()
		})
	}
}

// history is what happens to a world.
type history struct {
	*world
	partitiontest.History
	rand *rand.Rand

	living  sync.RWMutex
	alive   []*process
	callers []*process // that own nothing

	noting sync.Mutex
	timers map[string]*timer
}

// timer is one of the many, each with a key of its own.
type timer struct {
	due     time.Time
	removed time.Time // when the Remove was answered, or zero
	unknown bool      // an answer was lost
}

// rise begins a process with faults.
func (h *history) rise() {
	p := h.process()
	faults := rand.New(rand.NewPCG(h.rand.Uint64(), 0))
	var mu sync.Mutex
	draw := func(n int) int { mu.Lock(); defer mu.Unlock(); return faults.IntN(n) }
	h.NoError(p.open(h.t.Context()))
	for _, log := range p.logs {
		log.SetFault(func([]byte) memlog.Fault {
			if draw(10) > 0 {
				return memlog.None
			}
			return memlog.Fault(draw(int(memlog.Twice) + 1))
		})
	}
	p.store.SetFault(func(c memtable.Call) memtable.Fault {
		return memtable.Fault{Before: time.Duration(draw(5)) * time.Millisecond, Lose: c.Op != "watch" && draw(20) == 0}
	})
	h.living.Lock()
	h.alive = append(h.alive, p)
	h.living.Unlock()
}

// disturb ends or cuts off one of the processes. There are three again then.
func (h *history) disturb() {
	i := h.rand.IntN(len(h.alive))
	p := h.alive[i]
	switch h.rand.IntN(4) {
	case 0:
		h.callers[h.rand.IntN(len(h.callers))].store.Mute()
		p.store.Cut(true)
		time.Sleep(time.Duration(h.rand.Int64N(int64(2 * lease))))
		p.store.Cut(false)
		return
	case 1:
		p.kill()
	case 2:
		h.NoError(p.Shutdown(h.t.Context()))
	case 3:
		p.Close()
	}
	h.living.Lock()
	h.alive = slices.Delete(h.alive, i, i+1)
	h.living.Unlock()
	h.rise()
}

func (h *history) any(r *rand.Rand) *process {
	h.living.RLock()
	defer h.living.RUnlock()
	if i := r.IntN(len(h.alive) + len(h.callers)); i < len(h.callers) {
		return h.callers[i]
	}
	return h.alive[r.IntN(len(h.alive))]
}

// call asks any of the processes for operations.
func (h *history) call(caller int, r *rand.Rand) {
	for n := range 250 {
		if r.IntN(3) == 0 {
			h.timer(fmt.Sprintf("timer %d %d", caller, n), r)
			continue
		}
		in := partitiontest.Input{Key: fmt.Sprint("key", r.IntN(8)), Value: fmt.Sprintf("%d-%d", caller, n)}
		in.Kind = []frame.Kind{0, frame.Set, frame.Set, frame.Move, frame.Remove}[r.IntN(5)]
		p := h.any(r)
		h.Call(caller, in, func() (out partitiontest.Output, noted bool) {
			var err error
			if in.Kind == 0 {
				out.Value, _, out.OK, err = p.Get(h.t.Context(), of(in.Key), []byte(in.Key))
			} else {
				out.Value, out.OK, err = p.do(in.Kind, in.Key, in.Value, time.Hour)
			}
			if err != nil {
				return partitiontest.Output{Unknown: true}, true
			}
			return out, true
		})
	}
}

// timer sets a timer of its own, and may remove it.
func (h *history) timer(key string, r *rand.Rand) {
	d := time.Duration(r.Int64N(int64(2 * lease)))
	t := &timer{due: time.Now().Add(d)}
	_, _, err := h.any(r).do(frame.Set, key, "", d)
	t.unknown = err != nil
	if r.IntN(2) == 0 {
		_, took, err := h.any(r).do(frame.Remove, key, "", 0)
		t.unknown = t.unknown || err != nil
		if took {
			t.removed = time.Now()
		}
	}
	h.noting.Lock()
	h.timers[key] = t
	h.noting.Unlock()
}

// judge waits for the timers, and looks at what has happened.
func (h *history) judge() {
	h.Check(h.t)
	p := h.alive[0]
	h.eventually("all have ended", func() bool {
		keys, err := p.tryKeys()
		for key := range keys {
			if _, ok := h.timers[key]; ok {
				return false
			}
		}
		return err == nil
	})
	for key, t := range h.timers {
		all := h.firings(key)
		h.True(len(all) > 0 || t.unknown || !t.removed.IsZero(), "%s was lost", key)
		for i, f := range all {
			h.False(f.at.Before(t.due), "%s fired %v early", key, t.due.Sub(f.at))
			h.False(!t.removed.IsZero() && f.at.After(t.removed) && !f.cancelled, "%s fired %v after it was removed", key, f.at.Sub(t.removed))
			if i > 0 {
				h.Equal(all[0].ID, f.ID)
				h.GreaterOrEqual(f.Epoch, all[i-1].Epoch)
			}
		}
	}
}
