package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/partition"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// A log that somebody deletes is said to be damaged, also where its owner has nothing to do. When it is
// restored as it was, it is taken up again.
func TestLogThatIsDeleted(t *testing.T) {
	t.Parallel()
	for what, remove := range map[string]func(*world){
		"deleted": func(w *world) { w.disks[1].SetGone(true) },
		"cut":     func(w *world) { w.disks[1].Cut(2) },
		"purged":  func(w *world) { w.NoError(w.disks[1].Open().Trim(t.Context(), 1<<40)) },
	} {
		for _, busy := range []bool{false, true} {
			t.Run(fmt.Sprint(what, busy), func(t *testing.T) {
				w := newWorld(t)
				a, b := w.guarded(), w.guarded()
				w.NoError(a.open(t.Context()))
				w.NoError(b.open(t.Context()))
				w.eventually("two each", func() bool { return a.owns() == 2 && b.owns() == 2 })
				ended := make(chan bool)
				w.unseen(func() {
					a.set("key1", "value", time.Hour)
					a.set("key2", "value", time.Hour)
					if busy {
						go func() {
							defer close(ended)
							for err := error(nil); err == nil; {
								_, _, err = b.do(frame.Set, "key1", "other", time.Hour)
							}
						}()
					} else {
						close(ended)
					}
					remove(w)
				})
				w.eventually("damaged", func() bool { return a.damaged()+b.damaged() == 1 })
				for _, p := range []*process{a, b} {
					_, _, err := p.do(frame.Remove, "key1", "", 0)
					w.ErrorIs(err, partition.ErrDamaged)
					_, _, _, err = p.Get(t.Context(), 1, []byte("key1"))
					w.ErrorIs(err, partition.ErrDamaged)
					_, _, ok, err := p.Get(t.Context(), 2, []byte("key2"))
					w.NoError(err)
					w.True(ok)
				}
				<-ended
			})
		}
	}
}

// guarded is a log at which nobody looks while noLook is held.
type guarded struct {
	storage.Log
	noLook *sync.RWMutex
}

func (l guarded) Bounds(ctx context.Context) (storage.Bounds, error) {
	l.noLook.RLock()
	defer l.noLook.RUnlock()
	return l.Log.Bounds(ctx)
}

// guarded is a process that has not begun yet, and looks at no log during unseen.
func (w *world) guarded() *process {
	p := w.process().steady() // who joins again looks, and so does who gets no answer
	p.wrap = func(log storage.Log) storage.Log { return guarded{log, &w.noLook} }
	return p
}

// unseen does something at which the owners of logs do not look before it is done. An owner looks once after it has
// written, and not again while it is idle.
func (w *world) unseen(do func()) {
	w.noLook.Lock()
	defer w.noLook.Unlock()
	do()
}

// damaged is how many partitions of this process are damaged.
func (p *process) damaged() (n int) {
	for at := range partitions {
		if _, _, err := p.Stats(at); err != nil {
			n++
		}
	}
	return n
}

// A log that seems to lack something for a moment goes on without a new owner, as what has answered was
// only behind.
func TestLogThatSeemsToBeGone(t *testing.T) {
	w := newWorld(t)
	a := w.process()
	a.lease, a.behind = time.Minute, time.Hour
	w.NoError(a.open(t.Context()))
	l := a.session.slots[1]
	before := a.owned[1].Load()
	w.disks[1].SetGone(true)
	l.doubted(nil)
	ctx, cancel := context.WithTimeout(t.Context(), lease)
	defer cancel()
	call := &core.Call{Ops: []core.Op{{Kind: frame.Set, Key: []byte("key1")}}}
	w.ErrorIs(a.Do(ctx, 1, call), context.DeadlineExceeded)
	w.disks[1].SetGone(false)
	a.set("key1", "", time.Hour)
	w.Same(before, a.owned[1].Load())
	w.Zero(a.damaged())
}

// When a log is restored, it is taken up again, and nothing is missing. While it lacks something, calls
// are told what.
func TestLogThatIsRestored(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.process()
	a.lease = time.Minute
	w.NoError(a.open(t.Context()))
	a.set("key1", "value", time.Hour)
	backup := w.disks[1].Copy()
	a.set("key1", "later", time.Hour)
	whole := w.disks[1].Copy()
	w.eventually("marked", func() bool { // the mark tells what is missing
		m, err := a.logs[1].Mark(t.Context())
		return err == nil && m.Number == a.owned[1].Load().Last()
	})
	w.disks[1].SetGone(true)
	a.session.slots[1].doubted(nil)
	says := func(text string) {
		w.eventually(text, func() bool {
			_, _, _, err := a.Get(t.Context(), 1, []byte("key1"))
			return errors.Is(err, partition.ErrDamaged) && strings.Contains(err.Error(), text)
		})
	}
	says("it is missing")
	w.disks[1].Restore(backup)
	says("was acknowledged")
	w.disks[1].Restore(whole)
	w.eventually("back", func() bool { return a.owned[1].Load() != nil })
	value, _, ok, err := a.Get(t.Context(), 1, []byte("key1"))
	w.NoError(err)
	w.True(ok)
	w.Equal("later", value)
	w.Zero(a.damaged())
}

// edited is a log whose stream somebody has edited, once that is true.
type edited struct {
	storage.Log
	is *atomic.Bool
}

func (l edited) Bounds(ctx context.Context) (storage.Bounds, error) {
	if l.is.Load() {
		return storage.Bounds{}, fmt.Errorf("the stream has %w", storage.ErrSettings)
	}
	return l.Log.Bounds(ctx)
}

// counted is a log that counts how often its bounds were asked for.
type counted struct {
	storage.Log
	n *atomic.Int64
}

func (l counted) Bounds(ctx context.Context) (storage.Bounds, error) {
	l.n.Add(1)
	return l.Log.Bounds(ctx)
}

// An owner looks at its log once after it has written, and not again while it is idle.
func TestIdleOwnerDoesNotLook(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.process()
	var n atomic.Int64
	a.wrap = func(log storage.Log) storage.Log { return counted{log, &n} }
	w.NoError(a.open(t.Context()))
	for range 2 {
		before := n.Load()
		a.set("key1", "", time.Hour)
		w.eventually("looked", func() bool { return n.Load() > before })
		w.eventually("idle", func() bool { // the others look once after they were opened
			idle := n.Load()
			time.Sleep(4 * lease)
			return n.Load() == idle
		})
	}
}

// An owner whose stream was edited so that it loses frames says so once, and goes on.
func TestLogThatIsEdited(t *testing.T) {
	w := newWorld(t)
	a := w.process()
	a.lease = time.Minute
	var is atomic.Bool
	a.wrap = func(log storage.Log) storage.Log { return edited{log, &is} }
	var logged text
	a.logger = slog.New(slog.NewTextHandler(&logged, nil))
	w.NoError(a.open(t.Context()))
	before := a.owned[1].Load()
	is.Store(true)
	const told = "a log has settings that it must not have"
	l := a.latest().slots[1]
	for range 3 {
		l.doubted(nil)
		w.eventually("looked", func() bool { return len(l.doubts) == 0 })
	}
	w.eventually("told", func() bool { return logged.count(told) > 0 })
	a.set("key1", "", time.Hour)
	w.Same(before, a.owned[1].Load())
	w.Equal(1, logged.count(told))
	is.Store(false)
}
