package partition

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// lease is one that ends between the decision to begin an attempt and the attempt. While the
// partition is opened, it has not begun yet.
type lease struct {
	of   atomic.Pointer[Partition]
	held atomic.Bool
	safe atomic.Bool // it does not end
}

// openLeased opens the partition with such a lease.
func (b *bench) openLeased() *lease {
	l := new(lease)
	b.cfg.Tenure = func() bool {
		if l.held.Load() && !l.safe.Load() && l.of.Load().core.Numbers().Running > 0 {
			l.held.Store(false)
		}
		return l.held.Load()
	}
	b.open()
	l.of.Store(b.p)
	l.held.Store(true)
	b.p.Resume()
	return l
}

// returns has the lease come back, for good.
func (l *lease) returns() {
	l.safe.Store(true)
	l.held.Store(true)
	l.of.Load().Resume()
}

// A suspect whose lease ended is tried alone again. The next one follows it.
func TestLeaseOfASuspect(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.open()
		b.p.firer.halt()
		b.set("a", "", 0)
		b.set("b", "", 0)
		b.crash()
		b.handle = func(ctx context.Context, _ core.Firing) error { <-ctx.Done(); return ctx.Err() }
		b.open()
		synctest.Wait()
		b.Len(b.took(), 2)
		b.crash() // both attempts have no end: they are suspects
		b.handle = nil
		l := b.openLeased()
		time.Sleep(time.Hour)
		b.False(l.held.Load())
		b.Empty(b.took())
		l.returns()
		synctest.Wait()
		b.ElementsMatch([]string{"a", "b"}, b.took())
		b.shut()
	})
}

// A call that changes nothing, and whose lease ends just before its answer, waits as others do, however long ago the last
// frame was written.
func TestLeaseEndsBeforeAnAnswerWithoutAFrame(t *testing.T) {
	inBubble(t, func(b *bench) {
		var ends atomic.Bool
		var looks atomic.Int64
		b.cfg.Tenure = func() bool { return !ends.Load() || looks.Add(-1) >= 0 }
		b.open()
		b.set("a", "", time.Hour)
		time.Sleep(2 * time.Minute)
		looks.Store(2) // of the call, and of the writer
		ends.Store(true)
		time.AfterFunc(time.Second, func() {
			ends.Store(false)
			b.p.Resume()
		})
		begun := time.Now()
		_, err := b.try(core.Op{Kind: frame.Remove, Key: []byte("absent")})
		b.NoError(err)
		b.Equal(time.Second, time.Since(begun))
		b.shut()
	})
}

// A handler that returns the error of a lease that has ended has failed like any other.
func TestHandlerReturnsTheErrorOfTheLease(t *testing.T) {
	b := newBench(t)
	b.handle = func(context.Context, core.Firing) error { return errTenure }
	b.open()
	b.do(core.Op{Kind: frame.Set, Key: []byte("a"), Due: b.p.time.now()})
	b.mock.Add(time.Hour)
	b.Len(b.took(), b.cfg.MaxAttempts)
}

// An attempt that somebody tries to begin again and again while there is no lease is announced once when it returns.
func TestBeginWithoutALease(t *testing.T) {
	b := newBench(t)
	announced, id := 0, frame.ID{}
	b.cfg.Announce = func(f core.Firing) error { announced, id = announced+1, f.ID; return nil }
	var held atomic.Bool
	held.Store(true)
	b.cfg.Tenure = held.Load
	b.open()
	b.set("a", "", time.Second)
	b.mock.Add(time.Second)
	b.Equal(1, announced)
	held.Store(false)
	for range 3 {
		_, ok := b.p.Begin([]byte("a"), id)
		b.False(ok)
	}
	held.Store(true)
	b.p.Resume()
	b.mock.Add(0)
	b.Equal(2, announced)
	_, ok := b.p.Begin([]byte("a"), id)
	b.True(ok)
}
