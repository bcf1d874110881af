package cluster

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/journal"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
)

// broken is a log that seems to be damaged to one process.
type broken struct {
	journal.Log
	is *atomic.Bool
}

func (l broken) Bounds(ctx context.Context) (journal.Bounds, error) {
	if l.is.Load() {
		return journal.Bounds{}, journal.ErrDamaged
	}
	return l.Log.Bounds(ctx)
}

// A process that has given a damaged partition to another, which can open it, does not say any more that
// it is damaged.
func TestDamagedPartitionIsGiven(t *testing.T) {
	w := newWorld(t)
	a := w.process()
	a.reread = time.Hour
	var is atomic.Bool
	is.Store(true)
	a.wrap = func(log journal.Log) journal.Log {
		if log == journal.Log(a.logs[3]) {
			return broken{log, &is}
		}
		return log
	}
	w.NoError(a.open(t.Context()))
	_, _, _, err := a.Get(t.Context(), 3, []byte("key3"))
	w.ErrorIs(err, partition.ErrDamaged)
	b := w.open()
	w.eventually("given", func() bool { return b.owned[3].Load() != nil })
	w.eventually("a asks b", func() bool { return a.damaged() == 0 })
	for range 20 {
		a.set("key3", "", time.Hour)
		_, _, ok, err := a.Get(t.Context(), 3, []byte("key3"))
		w.NoError(err)
		w.True(ok)
	}
}

// What has happened in a partition is counted once, also while it ends here.
func TestStatsCountOnce(t *testing.T) {
	w := newWorld(t)
	a := w.open()
	a.set("key1", "", time.Hour)
	p := a.owned[1].Load()
	before, _, err := a.Stats(1)
	w.NoError(err)
	a.mu.Lock()
	counted := make(chan partition.Stats)
	go func() {
		st, _, _ := a.Stats(1)
		counted <- st
	}()
	time.Sleep(50 * time.Millisecond) // it waits for mu then, most likely
	a.closeLocked(1, p, p.Stats())
	a.mu.Unlock()
	w.Equal(before.Counts, (<-counted).Counts)
}
