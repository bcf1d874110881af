package cluster

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memlog"
)

// A log that does not answer does not keep Open from the others. It is taken over when it answers. That is
// so for one that can't be read, and for one that can't be written to.
func TestOpenWithASilentLog(t *testing.T) {
	t.Parallel()
	for what, silent := range map[string]func(*memlog.Disk, bool){
		"read":  (*memlog.Disk).SetSilent,
		"write": (*memlog.Disk).SetFull,
	} {
		t.Run(what, func(t *testing.T) {
			w := newWorld(t)
			silent(w.disks[1], true)
			a := w.process()
			a.lease = time.Minute
			limited, end := context.WithTimeout(t.Context(), patience/2)
			defer end()
			w.NoError(a.open(limited))
			w.eventually("the others", func() bool { return a.owns() == partitions-1 })
			w.Zero(a.damaged())
			a.set("key2", "", time.Hour)
			ctx, cancel := context.WithTimeout(t.Context(), lease)
			defer cancel()
			call := &core.Call{Ops: []core.Op{{Kind: frame.Set, Key: []byte("key1")}}}
			w.ErrorIs(a.Do(ctx, 1, call), context.DeadlineExceeded)
			silent(w.disks[1], false)
			a.set("key1", "", time.Hour)
			w.eventually("all", func() bool { return a.owns() == partitions }) // others may call it a moment before
		})
	}
}

// If no log answers, Open waits for them until its context ends.
func TestOpenWithoutLogs(t *testing.T) {
	w := newWorld(t)
	for _, d := range w.disks {
		d.SetSilent(true)
	}
	a := w.process()
	a.lease = time.Minute
	var logged text
	a.logger = slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
	ctx, cancel := context.WithCancel(t.Context())
	opened := make(chan error, 1)
	go func() { opened <- a.open(ctx) }()
	w.eventually("tried", func() bool { return logged.count("can't be taken over yet\" partition=0") > 0 })
	select {
	case err := <-opened:
		w.FailNow("it does not wait", "%v", err)
	case <-time.After(2 * lease):
	}
	cancel()
	err := <-opened
	w.ErrorIs(err, context.Canceled)
	w.ErrorContains(err, "no answer")
}

// refusing is a log that takes nothing.
type refusing struct {
	storage.Log
	is *atomic.Bool
}

func (l refusing) Append(ctx context.Context, last uint64, data []byte) error {
	if l.is.Load() {
		return storage.ErrTooLarge
	}
	return l.Log.Append(ctx, last, data)
}

// Stats say since when a partition should be open here, and is not: this log can be read, and not be written to.
func TestUnavailableSince(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	begun := time.Now()
	p := w.process()
	p.lease, p.behind = time.Minute, lease // what it owns it owns throughout
	var refuses atomic.Bool
	refuses.Store(true)
	p.wrap = func(log storage.Log) storage.Log {
		if log == storage.Log(p.logs[2]) {
			return refusing{log, &refuses}
		}
		return log
	}
	w.NoError(p.open(t.Context()))
	w.eventually("tried", func() bool { st, _, _ := p.Stats(2); return !st.Unavailable.IsZero() })
	st, owned, _ := p.Stats(2)
	since := st.Unavailable
	w.False(owned)
	w.True(since.After(begun))
	st, _, _ = p.Stats(1)
	w.Zero(st.Unavailable)
	w.eventually("the same, however often it is tried", func() bool { return time.Since(since) > 4*lease })
	st, _, _ = p.Stats(2)
	w.Equal(since, st.Unavailable)
	refuses.Store(false)
	w.eventually("open", func() bool { st, owned, _ := p.Stats(2); return owned && st.Unavailable.IsZero() })
}
