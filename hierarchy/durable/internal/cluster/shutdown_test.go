package cluster

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage/memlog"
)

// within fails the test if f takes longer than anything here may take.
func (w *world) within(what string, f func()) {
	w.t.Helper()
	done := make(chan bool)
	go func() { f(); close(done) }()
	select {
	case <-done:
	case <-time.After(patience):
		w.t.Fatal(what + " does not return")
	}
}

// Shutdown returns when nothing answers, whether its context has a deadline or not.
func TestShutdownWithoutServers(t *testing.T) {
	t.Parallel()
	for _, deadline := range []bool{true, false} {
		for _, away := range []string{"table", "table and logs"} {
			t.Run(fmt.Sprint(away, deadline), func(t *testing.T) {
				w := newWorld(t)
				a := w.open()
				a.set("key1", "", time.Hour)
				a.store.Cut(true)
				if away != "table" {
					for _, log := range a.logs {
						log.Close()
					}
				}
				ctx, cancel := context.WithCancel(context.Background())
				if deadline {
					ctx, cancel = context.WithTimeout(ctx, 50*time.Millisecond)
				}
				defer cancel()
				w.within("Shutdown", func() { _ = a.Shutdown(ctx) })
			})
		}
	}
}

// Without servers and without a deadline, Shutdown takes ten seconds: four to say that it leaves, five for
// the logs, and one for the lease.
func TestShutdownIsGivenUp(t *testing.T) {
	t.Parallel()
	for tries := 1; shutdownWithoutServers(t) >= 13*time.Second; tries++ { // the machine may stand still, but not always
		if tries == 3 {
			t.Fatal("it takes longer")
		}
	}
}

// shutdownWithoutServers returns how long that takes.
func shutdownWithoutServers(t *testing.T) time.Duration {
	w := newWorld(t)
	a := w.process()
	a.lease = time.Minute
	w.NoError(a.open(t.Context()))
	a.set("key1", "", time.Hour)
	a.store.Cut(true)
	for _, log := range a.logs {
		log.Close()
	}
	begun := time.Now()
	w.within("Shutdown", func() { _ = a.Shutdown(context.Background()) })
	return time.Since(begun)
}

// Shutdown gives handlers the time that its context gives, also where others ask for the partitions.
func TestShutdownWaitsForHandlersBesideOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	entered, ended := make(chan bool), make(chan error)
	w.handle = func(ctx context.Context, f core.Firing) error {
		if f.Key != "slow0" || f.Attempt > 1 {
			return nil
		}
		entered <- true
		select {
		case <-ctx.Done():
		case <-time.After(4 * steady):
		}
		ended <- ctx.Err()
		return ctx.Err()
	}
	a := w.openSteady() // it is not to lose its lease, which would end the handler, too
	a.set("slow0", "", 0)
	<-entered
	b := w.openSteady()
	shut := make(chan error, 1)
	go func() { shut <- a.Shutdown(t.Context()) }()
	w.NoError(<-ended)
	w.NoError(<-shut)
	w.eventually("all", func() bool { return b.owns() == partitions })
	w.Len(w.firings("slow0"), 1)
}

// What a process has closed while it leaves, it does not take over again, also if the table did not answer
// and the claim is its own still.
func TestShutdownOpensNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	entered := make(chan bool)
	w.handle = func(ctx context.Context, f core.Firing) error {
		if f.Key == "slow0" {
			entered <- true
			<-ctx.Done()
		}
		return nil
	}
	a := w.process()
	a.lease = time.Minute
	w.NoError(a.open(t.Context()))
	a.set("slow0", "", 0)
	<-entered
	a.store.Cut(true)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	w.ErrorIs(a.Shutdown(ctx), context.DeadlineExceeded)
	for at, d := range w.disks {
		w.Equal(frame.Close, w.lastKind(d), at)
	}
}

// lastKind is that of the last operation. The result of an attempt may be in one frame with what follows.
func (w *world) lastKind(d *memlog.Disk) (kind frame.Kind) {
	log := d.Open()
	b, err := log.Bounds(w.t.Context())
	w.NoError(err)
	data, err := log.Get(w.t.Context(), b.Last)
	w.NoError(err)
	f, err := frame.Parse(data)
	w.NoError(err)
	for op, err := range f.Ops() {
		w.NoError(err)
		kind = op.Kind
	}
	return kind
}

// Shutdown whose context has ended closes the logs in order, as far as they answer.
func TestShutdownWithAnEndedContext(t *testing.T) {
	w := newWorldOf(t, 16)
	a := w.process()
	a.lease = time.Minute
	w.NoError(a.open(t.Context()))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_ = a.Shutdown(ctx)
	for at, d := range w.disks {
		w.Equal(frame.Close, w.lastKind(d), at)
	}
}
