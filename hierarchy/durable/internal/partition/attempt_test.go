package partition

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
)

func TestFailuresAreTriedAgainAndDie(t *testing.T) {
	b := newBench(t)
	b.handle = func(context.Context, core.Firing) error { return errHandler }
	b.open()
	b.set("a", "1", time.Second)
	b.mock.Add(time.Second)
	first := b.last()
	b.Equal(uint32(1), first.Attempt)
	v, d := b.get("a")
	b.Equal("1", v)
	b.Equal(time.Second, d)
	b.crash() // the attempt is counted in the log
	b.open()
	b.mock.Add(time.Second)
	b.Equal(uint32(2), b.last().Attempt)
	b.mock.Add(2 * time.Second)
	b.Equal(uint32(3), b.last().Attempt)
	b.Equal(first.ID, b.last().ID)
	b.Equal(first.Due, b.last().Due)
	b.mock.Add(time.Hour)
	b.Len(b.took(), 3)
}

func TestDeadTimerIsRevived(t *testing.T) {
	b := newBench(t)
	b.handle = func(context.Context, core.Firing) error { return errHandler }
	b.open()
	b.set("a", "1", time.Second)
	b.mock.Add(time.Hour)
	first := b.last()
	for range 2 {
		b.Equal(map[string]string{"a": "1"}, b.keys(true))
		b.Empty(b.keys(false))
		v, _ := b.get("a")
		b.Equal("-", v)
		b.False(b.move("a", 0))
		n, err := b.p.Len()
		b.NoError(err)
		b.Zero(n)
		b.crash()
		b.open()
	}
	b.handle = nil
	b.True(b.revive("a"))
	b.False(b.revive("a"))
	b.mock.Add(0)
	b.Equal(uint32(1), b.last().Attempt)
	b.Equal(first.ID, b.last().ID)
	b.Empty(b.keys(true))
	b.False(b.revive("a"))
}

func TestPanicAndGoexitAreFailures(t *testing.T) {
	b := newBench(t)
	b.handle = func(_ context.Context, f core.Firing) error {
		if f.Value == "panic" {
			panic("no")
		}
		runtime.Goexit()
		return nil
	}
	b.open()
	b.set("a", "panic", 0)
	b.set("b", "exit", 0)
	b.mock.Add(0)
	b.Equal([]string{"a", "b"}, b.took())
	b.Len(b.keys(false), 2)
	b.mock.Add(time.Hour)
	b.Len(b.took(), 4)
	b.Len(b.keys(true), 2)
}

// A handler may use the partition. What it sets for its own key counts, and its result does not.
func TestHandlerSetsItsOwnKey(t *testing.T) {
	b := newBench(t)
	b.open()
	b.handle = func(ctx context.Context, f core.Firing) error {
		if f.Value == "again" {
			b.set("a", "last", time.Second)
			b.ErrorIs(ctx.Err(), context.Canceled)
			return errHandler
		}
		return nil
	}
	b.set("a", "again", time.Second)
	b.mock.Add(2 * time.Second)
	b.Equal([]string{"a", "a"}, b.took())
	b.Empty(b.keys(false))
	b.Empty(b.keys(true))
}

// While an attempt runs, Move, Remove and Set of its key are committed.
func TestOperationsWhileAnAttemptRuns(t *testing.T) {
	for _, op := range []string{"move", "remove", "set"} {
		b := newBench(t)
		b.open()
		b.handle = func(ctx context.Context, f core.Firing) error {
			if b.handle = nil; op == "move" {
				v, left := b.get("a")
				b.Equal("1", v)
				b.Zero(left)
				b.True(b.move("a", time.Minute))
			}
			if op == "remove" {
				v, ok := b.remove("a")
				b.True(ok)
				b.Equal("1", v)
			}
			if op == "set" {
				b.set("a", "2", time.Minute)
			}
			<-ctx.Done()
			return ctx.Err()
		}
		b.set("a", "1", time.Second)
		b.mock.Add(time.Second)
		b.mock.Add(30 * time.Second)
		b.Equal([]string{"a"}, b.took(), op)
		b.mock.Add(time.Minute)
		if op != "remove" {
			b.Equal([]string{"a"}, b.took(), op)
		}
		b.Empty(b.keys(false))
	}
}

// A key that is set after its handler was called, and before the handler's end is in the log, has
// its new timer, whatever the order in which both are written.
func TestEndOfAnOlderTimer(t *testing.T) {
	b := newBench(t)
	b.cfg.Clock = realClock()
	hold, held := make(chan bool), make(chan bool)
	holding := atomic.Bool{}
	b.before = func(uint64) {
		if holding.Swap(false) {
			held <- true
			<-hold
		}
	}
	entered, leave := make(chan bool), make(chan bool)
	b.handle = func(context.Context, core.Firing) error { entered <- true; <-leave; return nil }
	b.open()
	b.set("a", "old", 0)
	<-entered
	queued := func(n int) {
		b.Eventually(func() bool {
			b.p.writer.queue.mu.Lock()
			defer b.p.writer.queue.mu.Unlock()
			return len(b.p.writer.queue.items) == n
		}, 10*time.Second, 100*time.Microsecond)
	}
	var wg sync.WaitGroup
	holding.Store(true)
	wg.Go(func() { b.set("x", "", time.Hour) })
	<-held
	wg.Go(func() { b.set("a", "new", time.Hour) })
	queued(1)
	leave <- true // its end is in the queue behind the new timer
	queued(2)
	hold <- true
	wg.Wait()
	b.Equal(map[string]string{"a": "new", "x": ""}, b.keys(false))
	b.crash()
	b.open()
	b.Equal(map[string]string{"a": "new", "x": ""}, b.keys(false))
	b.shut()
}
