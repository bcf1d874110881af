package cluster

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// mute is a log that can be read, and written to only while that is allowed.
type mute struct {
	storage.Log
	is    *atomic.Bool
	knows *atomic.Bool // also that it refuses what it must refuse
}

func (l mute) Append(ctx context.Context, last uint64, data []byte) error {
	if !l.is.Load() || !l.knows.Load() && last > 1<<60 {
		return l.Log.Append(ctx, last, data)
	}
	<-ctx.Done()
	return ctx.Err()
}

// muting is a process that can be kept from writing to some of the logs.
type muting struct {
	*process
	is, knows atomic.Bool
	logged    text
}

// muting is a process that has not begun yet, and can't write to some logs then.
func (w *world) muting(at ...int) *muting {
	m := &muting{process: w.process()}
	m.is.Store(true)
	m.knows.Store(true)
	m.logger = slog.New(slog.NewTextHandler(&m.logged, nil))
	m.wrap = func(log storage.Log) storage.Log {
		for _, at := range at {
			if log == storage.Log(m.logs[at]) {
				return mute{log, &m.is, &m.knows}
			}
		}
		return log
	}
	return m
}

const leftToOthers = "this process can't write to a log"

// epochs are those of the partitions that a process owns.
func (p *process) epochs() (all [partitions]uint64) {
	for at := range all {
		if o := p.owned[at].Load(); o != nil {
			all[at] = o.Epoch()
		}
	}
	return all
}

// A process that can write to no log takes none from those that can, and says so. When it can, it gets its share.
func TestMuteProcessTakesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.patient() // it keeps its lease, and its partitions
	w.NoError(a.open(t.Context()))
	before := a.epochs()
	b := w.muting(0, 1, 2, 3)
	b.lease = steady // who joins again tries again, and says so again
	w.NoError(b.open(t.Context()))
	w.eventually("it has tried", func() bool { return b.logged.count(leftToOthers) == partitions })
	for range 20 {
		b.set("key1", "", time.Hour)
		time.Sleep(lease / 40)
	}
	w.Equal(before, a.epochs(), "nothing has changed hands")
	w.Zero(b.owns())
	b.is.Store(false)
	w.eventually("it has its share", func() bool { return a.owns() == 2 && b.owns() == 2 })
	w.Equal(partitions, b.logged.count(leftToOthers), "it is told once")
}

// While nobody can write to a log, its owner keeps the partition, and does not count as its owner.
func TestMuteForAll(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.muting(0, 1, 2, 3), w.muting(0, 1, 2, 3)
	a.lease, b.lease = steady, steady
	a.is.Store(false)
	b.is.Store(false)
	w.NoError(a.open(t.Context()))
	w.NoError(b.open(t.Context()))
	w.eventually("shared", func() bool { return a.owns() == 2 && b.owns() == 2 })
	before := a.epochs()
	at := 0
	for before[at] == 0 {
		at++
	}
	key := string(rune('0' + at))
	a.is.Store(true)
	b.is.Store(true)
	set := make(chan error, 1)
	go func() { _, _, err := a.do(frame.Set, key, "", time.Hour); set <- err }()
	w.eventually("neither can", func() bool {
		return a.latest().slots[at].unable.Load() != nil && b.latest().slots[at].unable.Load() != nil
	})
	w.eventually("as both know", func() bool {
		_, ofA := a.Members()
		_, ofB := b.Members()
		_, owned, _ := a.Stats(at)
		return ofA[at] == -1 && ofB[at] == -1 && !owned
	})
	time.Sleep(3 * a.lease)
	w.Equal(before, a.epochs())
	a.is.Store(false) // b would be as good
	w.NoError(<-set)
	w.eventually("owned", func() bool { _, owned, _ := a.Stats(at); return owned })
	w.Equal(before, a.epochs())
}

// A gift is no partition that is owned until the takeover is in the log. Without that it is given back, and not
// taken again for a while, which grows.
func TestMuteTaker(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.open()
	b := w.muting(0, 1, 2, 3)
	b.knows.Store(false)
	w.NoError(b.open(t.Context()))
	back := func(at int) bool {
		_, owned, _ := a.Stats(at)
		return b.latest().slots[at].unable.Load() != nil && owned
	}
	w.eventually("tried and given back", func() bool { return back(0) || back(1) || back(2) || back(3) })
	w.Zero(b.owns())
	b.is.Store(false)
	w.eventually("it has its share", func() bool { return a.owns() == 2 && b.owns() == 2 })
}

// The time for which a process leaves a partition to others grows as long as it is no better, and is forgotten
// after a time.
func TestRest(t *testing.T) {
	w := newWorld(t)
	a, b := w.patient(), w.patient() // no rest ends by itself
	lease := a.lease
	w.NoError(a.open(t.Context()))
	w.NoError(b.open(t.Context()))
	w.eventually("known", a.latest().othersLive)
	l := a.latest().slots[0]
	again := &slot{s: l.s, at: l.at} // one that does nothing by itself
	for i, n := range []time.Duration{2, 4, 8, 16, 16} {
		again.cannot(errSilent)
		w.Equal(n*lease, again.rest, i)
		again.cannot(errSilent)
		w.Equal(n*lease, again.rest, "it rests")
		again.again = time.Now().Add(-again.rest)
	}
	again.again = time.Now().Add(-(forgetRest + 1) * again.rest)
	again.cannot(errSilent)
	w.Equal(2*lease, again.rest)
}
