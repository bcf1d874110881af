package cluster

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/member"
)

// Close ends a Shutdown that waits for handlers, and waits for none, also not for those that do not look
// at their contexts.
func TestCloseEndsShutdown(t *testing.T) {
	w := newWorld(t)
	entered, leave := make(chan bool), make(chan bool)
	w.handle = func(_ context.Context, f core.Firing) error {
		if f.Key == "slow0" {
			entered <- true
			<-leave
		}
		return nil
	}
	defer close(leave)
	a := w.open()
	a.set("slow0", "", 0)
	<-entered
	shut := make(chan error, 1)
	go func() { shut <- a.Shutdown(context.Background()) }()
	w.eventually("Shutdown has come to the partitions", func() bool { return a.latest().leaving.Load() != nil && a.owns() == 1 })
	w.within("Close", a.close)
	w.within("Shutdown", func() { w.ErrorIs(<-shut, core.ErrClosed) })
}

// Calls of a process that has given its partitions away and waits for the table say that it is closed, and
// nothing of its lease, which it gives back.
func TestCallsWhileTheLeaseIsGivenBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.process()
	a.lease = time.Minute
	w.NoError(a.open(t.Context()))
	a.store.Cut(true)
	ended := make(chan bool)
	go func() {
		defer close(ended)
		_ = a.Shutdown(context.Background())
	}()
	w.eventually("the lease is given back", func() bool { return !a.latest().member.Holds() })
	_, _, err := a.do(frame.Set, "key1", "", time.Hour)
	w.ErrorIs(err, core.ErrClosed)
	_, _, _, err = a.Get(t.Context(), 1, []byte("key1"))
	w.ErrorIs(err, core.ErrClosed)
	<-ended
}

// The last process waits for no answers, as nobody is there to give them, and takes no further calls.
func TestLastCallsOfTheLastProcess(t *testing.T) {
	w := newWorld(t)
	a := w.process()
	a.lease = time.Minute
	var logged text
	a.logger = slog.New(slog.NewTextHandler(&logged, nil))
	w.NoError(a.open(t.Context()))
	s := a.latest()
	w.eventually("its server answers", func() bool { return logged.count("is owned\" partition=1 ") > 0 })
	a.owned[1].Store(nil) // so calls go to the client
	set := func() error { return a.Do(t.Context(), 1, &core.Call{Ops: []core.Op{{Kind: frame.Set}}}) }
	w.NoError(set())         // and it knows the owner's time: the next call is sent at once
	s.slots[1].server.Stop() // and nobody answers
	sent, asked := a.conn.Stats().OutMsgs, make(chan error, 1)
	go func() { asked <- set() }()
	w.eventually("asked", func() bool { return a.conn.Stats().OutMsgs > sent })
	w.eventually("it does not wait", func() bool { // the machine may stand still for as long, once
		begun := time.Now()
		s.finishCalls(context.Background())
		return time.Since(begun) < mostFarewell/2
	})
	_, err := a.Count(t.Context(), 1)
	w.ErrorIs(err, core.ErrClosed)
	a.close()
	w.Error(<-asked)
}

// While Close waits for a log that does not answer, the process does not open again what it has closed. If others delete
// it meanwhile, its slots end, as they can't give anything away any more.
func TestDeletedWhileCloseWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.process().steady()
	var sticks atomic.Bool
	stuck, held, closed := make(chan bool), make(chan bool), make(chan bool)
	a.logs[1].Before = func(uint64) {
		if sticks.CompareAndSwap(true, false) {
			close(stuck)
			<-held
		}
	}
	w.NoError(a.open(t.Context()))
	sticks.Store(true)
	go func() { _, _, _ = a.do(frame.Set, "key1", "", time.Hour) }()
	<-stuck
	s := a.latest()
	go func() { defer close(closed); a.close() }()
	w.eventually("Close has ended the others", func() bool { return a.owns() == 1 })
	w.forget(s.member.ID())
	w.eventually("its session has ended", func() bool { return s.ctx.Err() != nil })
	select {
	case <-closed:
		w.Fail("Close did not wait")
	default:
	}
	close(held)
	<-closed
}

// forget deletes the record of a member.
func (w *world) forget(id member.ID) {
	table, key := w.table.Open(), "member."+id.String()
	w.eventually("deleted, though it is renewed", func() bool {
		r, err := table.Get(w.t.Context(), key)
		w.NoError(err)
		return table.Delete(w.t.Context(), key, r.Revision) == nil
	})
}
