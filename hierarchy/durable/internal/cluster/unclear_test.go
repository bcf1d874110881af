package cluster

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// bounded is a log whose bounds can't be asked for while unclear is true. It counts how often they are.
type bounded struct {
	storage.Log
	unclear *atomic.Bool
	asked   *atomic.Int64
}

func (l bounded) Bounds(ctx context.Context) (storage.Bounds, error) {
	defer l.asked.Add(1)
	if l.unclear.Load() {
		return storage.Bounds{}, errors.New("no answer")
	}
	return l.Log.Bounds(ctx)
}

// openBounded begins a process whose log 1 is bounded, and returns a function that has that be looked at.
func (w *world) openBounded(a *process) (unclear *atomic.Bool, look func()) {
	unclear = new(atomic.Bool)
	var asked atomic.Int64
	a.wrap = func(log storage.Log) storage.Log {
		if log == storage.Log(a.logs[1]) {
			return bounded{log, unclear, &asked}
		}
		return log
	}
	w.NoError(a.open(w.t.Context()))
	return unclear, func() {
		before := asked.Load()
		a.latest().slots[1].doubted(errors.New("no answer"))
		w.eventually("looked", func() bool { return asked.Load() > before })
	}
}

// A log may be deleted while the servers do not answer, so the first look finds out nothing. As long as a
// frame is in doubt, its owner looks again.
func TestLogThatIsDeletedInSilence(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.process()
	a.lease = 2 * time.Second
	unclear, look := w.openBounded(a)
	look() // all that was written was there
	unclear.Store(true)
	w.disks[1].SetGone(true)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		ended <- a.Do(ctx, 1, &core.Call{Ops: []core.Op{{Kind: frame.Set, Key: []byte("key1")}}})
	}()
	look() // also if the call was not written yet
	look()
	unclear.Store(false)
	w.eventually("damaged", func() bool { return a.damaged() == 1 })
	cancel()
	<-ended
}

// Frames are missing if they are for some time, without an answer between that is not clear.
func TestLogThatSeemsToBeGoneTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.process()
	a.lease, a.behind = time.Minute, 20*time.Second
	unclear, look := w.openBounded(a)
	before := a.owned[1].Load()
	w.disks[1].SetGone(true)
	look()
	unclear.Store(true)
	look()
	time.Sleep(a.behind / lookPart)
	look()
	unclear.Store(false)
	look()
	w.disks[1].SetGone(false)
	a.set("key1", "", time.Hour)
	w.True(before == a.owned[1].Load())
	w.Zero(a.damaged())
}

// A call that waits while a log seems to be damaged is committed if the log turns out to be whole, and so does
// one that comes meanwhile. The owner may have given the log up between.
func TestCallsWaitForALogThatSeemsToBeGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.process()
	a.lease, a.behind = time.Minute, 10*time.Second
	w.NoError(a.open(t.Context()))
	before := a.owned[1].Load()
	first, ended := make(chan error), make(chan error)
	set := func(ended chan<- error) {
		_, _, err := a.do(frame.Set, "key1", "", time.Hour)
		ended <- err
	}
	w.disks[1].SetGone(true)
	go set(first)
	w.eventually("in doubt", before.InDoubt)
	go set(ended)
	go func() {
		_, _, _, err := a.Get(t.Context(), 1, []byte("key1"))
		for ; err == nil && a.owned[1].Load() == before; time.Sleep(time.Millisecond) {
			_, _, _, err = a.Get(t.Context(), 1, []byte("key1"))
		}
		ended <- err
	}()
	w.ErrorIs(<-first, partition.ErrUnavailable) // its frame was in doubt, as the owner ends
	w.disks[1].SetGone(false)
	w.NoError(<-ended)
	w.NoError(<-ended)
	w.True(before != a.owned[1].Load())
	w.Zero(a.damaged())
}
