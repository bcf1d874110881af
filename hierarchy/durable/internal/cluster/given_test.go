package cluster

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// broken is a log that seems to be damaged to one process.
type broken struct {
	storage.Log
	is *atomic.Bool
}

func (l broken) Bounds(ctx context.Context) (storage.Bounds, error) {
	if l.is.Load() {
		return storage.Bounds{}, storage.ErrDamaged
	}
	return l.Log.Bounds(ctx)
}

// A process that has given a damaged partition to another, which can open it, does not say any more that
// it is damaged.
func TestDamagedPartitionIsGiven(t *testing.T) {
	w := newWorld(t)
	a, b := w.patient(), w.patient() // else a may get it back, to which it still seems to be damaged
	a.reread = time.Hour
	var is atomic.Bool
	is.Store(true)
	a.wrap = func(log storage.Log) storage.Log {
		if log == storage.Log(a.logs[3]) {
			return broken{log, &is}
		}
		return log
	}
	w.NoError(a.open(t.Context()))
	_, _, _, err := a.Get(t.Context(), 3, []byte("key3"))
	w.ErrorIs(err, partition.ErrDamaged)
	w.NoError(b.open(t.Context()))
	w.eventually("given", func() bool { return b.owned[3].Load() != nil })
	w.eventually("a requests b", func() bool { return a.damaged() == 0 })
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
	last := p.Stats()
	a.closed(1, &last)
	a.mu.Unlock()
	w.Equal(before.Counts, (<-counted).Counts)
}

// However many messages ask for a partition, a few of them wait. The others are answered at once.
func TestRequestsAreBounded(t *testing.T) {
	w := newWorld(t)
	a := w.open()
	s := a.latest()
	l := s.slots[0]
	r := releasing{t.Context(), make(chan error)}
	l.releases <- r // the slot waits until it is told that this is known
	defer func() { <-r.done }()
	inbox := a.conn.NewInbox()
	answers := make(chan *nats.Msg, 3000)
	sub, err := a.conn.ChanSubscribe(inbox, answers)
	w.NoError(err)
	defer sub.Unsubscribe()
	before := runtime.NumGoroutine()
	for range 2000 {
		w.NoError(a.conn.PublishRequest(s.requestSubject(l.me()), inbox, l.requestMessage()))
	}
	for range 2000 - maxRequests {
		select {
		case m := <-answers:
			w.Equal(no, string(m.Data))
		case <-time.After(patience):
			w.FailNow("they wait")
		}
	}
	w.LessOrEqual(runtime.NumGoroutine(), before+maxRequests+10)
	// Nor does an answer go where an owner alone may publish.
	got := make(chan *nats.Msg, 10)
	log, err := a.conn.ChanSubscribe("epicycle."+w.name+".log.0", got)
	w.NoError(err)
	defer log.Unsubscribe()
	w.NoError(a.conn.PublishRequest(s.requestSubject(l.me()), "epicycle."+w.name+".log.0", []byte("?")))
	w.NoError(a.conn.PublishRequest(s.requestSubject(l.me()), inbox, []byte("?")))
	w.Equal(no, string((<-answers).Data))
	w.Empty(got)
}
