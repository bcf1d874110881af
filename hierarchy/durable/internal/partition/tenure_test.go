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

// What was due as the lease ended, and meanwhile, comes when the lease has returned, and what is due
// later comes at its time.
func TestLeaseThatReturns(t *testing.T) {
	inBubble(t, func(b *bench) {
		l := b.openLeased()
		b.set("meanwhile", "", time.Minute)
		b.set("later", "", 2*time.Hour)
		b.set("due", "", time.Second)
		time.Sleep(time.Hour)
		b.False(l.held.Load())
		b.Empty(b.took())
		b.Zero(b.p.Stats().Running)
		b.Zero(b.p.Stats().Fired)
		l.returns()
		synctest.Wait()
		b.ElementsMatch([]string{"due", "meanwhile"}, b.took())
		time.Sleep(time.Hour)
		synctest.Wait()
		b.Equal([]string{"later"}, b.took())
		b.Empty(b.keys(false))
		b.shut()
	})
}

func TestLeaseThatReturnsOnAMock(t *testing.T) {
	b := newBench(t)
	l := b.openLeased()
	b.set("due", "", time.Second)
	b.set("later", "", 2*time.Hour)
	b.mock.Add(time.Hour)
	b.False(l.held.Load())
	b.Empty(b.took())
	l.returns()
	b.mock.Add(0)
	b.Equal([]string{"due"}, b.took())
	b.mock.Add(time.Hour)
	b.Equal([]string{"later"}, b.took())
}

// While the lease is away, what is put back can be set, moved and removed by calls that came before.
func TestOperationsWhileTheLeaseIsAway(t *testing.T) {
	inBubble(t, func(b *bench) {
		l := b.openLeased()
		for _, k := range []string{"set", "move", "remove", "due"} {
			b.set(k, "", time.Second)
		}
		time.Sleep(time.Minute)
		b.writeLate(core.Op{Kind: frame.Set, Key: []byte("set"), Value: []byte("new"), In: time.Hour})
		b.writeLate(core.Op{Kind: frame.Move, Key: []byte("move"), In: time.Hour})
		b.writeLate(core.Op{Kind: frame.Remove, Key: []byte("remove")})
		l.returns()
		synctest.Wait()
		b.Equal([]string{"due"}, b.took())
		time.Sleep(time.Hour)
		synctest.Wait()
		b.ElementsMatch([]string{"set", "move"}, b.took())
		b.shut()
	})
}

// writeLate has the writer see a call only now that came while there was a lease.
func (b *bench) writeLate(a core.Op) {
	c := &core.Call{Ops: []core.Op{a}}
	started := b.begun(c)
	b.NoError(b.p.writer.queue.put(item{kind: called, call: started}))
	synctest.Wait()
	b.False(started.answered.Load())
	b.True(c.Took[0])
}

// An attempt that is in the log, and did not begin, begins when the lease has returned, and counts
// once.
func TestLeaseEndsAfterTheAttemptIsWritten(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.open()
		b.p.firer.halt()
		b.set("a", "", 0)
		b.crash()
		l := b.openLeased()
		time.Sleep(time.Hour)
		b.False(l.held.Load())
		b.Empty(b.took())
		l.returns()
		synctest.Wait()
		b.Equal(uint32(1), b.last().Attempt)
		b.Equal([]string{"a"}, b.took())
		b.shut()
	})
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
