package partition

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// limited has attempts of b end after ten seconds, and returns how often a warning of stuck handlers was logged.
func (b *bench) limited(places int) (warned *atomic.Int32) {
	warned = new(atomic.Int32)
	b.cfg.Logger = slog.New(onRecord{slog.DiscardHandler, "durable: a handler is stuck: it has not returned after twice Timeout",
		func() { warned.Add(1) }})
	b.cfg.Crew = NewCrew(places)
	b.NoError(b.cfg.Crew.Limit(10*time.Second, b.cfg.Clock))
	b.t.Cleanup(b.cfg.Crew.Close)
	return warned
}

// bothClocks runs a test on the system's clock and on a mock, in a bubble. There a mock clock loses its patience
// only when the handler can't go on.
func bothClocks(t *testing.T, test func(b *bench, pass func(time.Duration))) {
	t.Run("system", func(t *testing.T) {
		inBubble(t, func(b *bench) {
			test(b, func(d time.Duration) { time.Sleep(d); synctest.Wait() })
		})
	})
	t.Run("mock", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t)
			test(b, func(d time.Duration) { b.mock.Add(d); synctest.Wait() })
		})
	})
}

// The context of an attempt ends after the timeout, with ErrTimeout as its cause, and the attempt has failed, whatever
// its handler returns.
func TestTimeout(t *testing.T) {
	bothClocks(t, func(b *bench, pass func(time.Duration)) {
		warned := b.limited(1)
		b.handle = func(ctx context.Context, f core.Firing) error {
			begun := b.cfg.Clock.Elapsed()
			deadline, ok := ctx.Deadline()
			b.True(ok)
			b.Equal(10*time.Second, deadline.Sub(b.cfg.Clock.Now()))
			<-ctx.Done()
			b.Equal(10*time.Second, b.cfg.Clock.Elapsed()-begun)
			b.ErrorIs(ctx.Err(), context.DeadlineExceeded)
			b.Equal(ErrTimeout, context.Cause(ctx))
			switch f.Attempt {
			case 1:
				return nil
			case 2:
				return errHandler
			}
			runtime.Goexit()
			return nil
		}
		b.open()
		b.set("a", "1", time.Second)
		pass(time.Second)
		b.Len(b.took(), 1)
		pass(10*time.Second - 1)
		b.Equal(1, b.p.Stats().Running)
		pass(1)
		b.Zero(b.p.Stats().Running)
		b.Equal(uint64(1), b.p.Stats().Failed)
		pass(time.Second - 1)
		b.Empty(b.took())
		pass(1)
		b.Len(b.took(), 1)
		pass(12 * time.Second)
		b.Equal(uint64(2), b.p.Stats().Failed)
		pass(10 * time.Second)
		b.Equal(map[string]string{"a": "1"}, b.keys(true))
		b.Zero(b.cfg.Crew.Stuck())
		b.Zero(warned.Load())
		b.shut()
	})
}

// A handler that does not return after as long again has lost its place to another, and its attempt has failed.
// It is stuck until it returns, and what it returns then is ignored.
func TestStuck(t *testing.T) {
	bothClocks(t, func(b *bench, pass func(time.Duration)) {
		warned := b.limited(1)
		leave := make(chan bool)
		b.handle = func(ctx context.Context, f core.Firing) error {
			if f.Value == "hangs" && f.Attempt == 1 {
				<-leave
			}
			return nil
		}
		b.open()
		b.set("hangs", "hangs", 0)
		pass(0)
		b.set("a", "", 0)
		pass(20*time.Second - 1)
		b.Zero(b.cfg.Crew.Stuck())
		b.Zero(b.p.Stats().Failed)
		pass(1)
		b.Equal(1, b.cfg.Crew.Stuck())
		b.Equal(uint64(1), b.p.Stats().Failed)
		b.Zero(b.p.Stats().Running)
		b.Contains(b.took(), "a")
		pass(time.Second - 1)
		b.Empty(b.took())
		pass(1)
		b.Equal(uint32(2), b.last().Attempt)
		b.Equal([]string{"hangs"}, b.took())
		b.Empty(b.keys(false))
		b.Equal(1, b.cfg.Crew.Stuck())
		b.set("hangs", "again", time.Hour)
		leave <- true
		synctest.Wait()
		b.Zero(b.cfg.Crew.Stuck())
		b.Equal(map[string]string{"hangs": "again"}, b.keys(false), "it ends no other timer")
		b.Equal(int32(1), warned.Load())
		b.Equal(1, b.free(), "its place was given back once")
		pass(time.Hour)
		b.Equal([]string{"hangs"}, b.took())
		b.shut()
	})
}

// A handler whose timer was removed, and which hangs nevertheless, loses its place, too.
func TestStuckAfterItsTimerWasRemoved(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.limited(1)
		leave := make(chan bool)
		b.handle = func(_ context.Context, f core.Firing) error {
			if f.Key == "a" {
				<-leave
			}
			return nil
		}
		b.open()
		b.set("a", "", 0)
		synctest.Wait()
		b.remove("a")
		b.set("b", "", 0)
		time.Sleep(20*time.Second - time.Nanosecond)
		b.Equal([]string{"a"}, b.took())
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		b.Equal([]string{"b"}, b.took())
		b.Equal(1, b.cfg.Crew.Stuck())
		b.Zero(b.p.Stats().Failed)
		close(leave)
		synctest.Wait()
		b.Zero(b.cfg.Crew.Stuck())
		b.Equal(1, b.free())
		b.shut()
	})
}

// With more handlers stuck than there are places, timers fire in time, and nothing is said of places.
func TestMoreAreStuckThanThereArePlaces(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.limited(2)
		var hang atomic.Int32
		b.cfg.Logger = slog.New(onRecord{slog.DiscardHandler, "durable: handlers hang, and timers that are due wait for one to return", func() { hang.Add(1) }})
		b.cfg.MaxAttempts = 1
		leave := make(chan bool)
		b.handle = func(_ context.Context, f core.Firing) error {
			if f.Key != "b" {
				<-leave
			}
			return nil
		}
		b.open()
		for _, k := range []string{"1", "2", "3", "4", "5"} {
			b.set(k, "", 0)
			time.Sleep(20 * time.Second)
		}
		synctest.Wait()
		b.Equal(5, b.cfg.Crew.Stuck())
		b.Len(b.keys(true), 5)
		b.took()
		b.set("b", "", 0)
		synctest.Wait()
		b.Equal([]string{"b"}, b.took())
		b.Zero(hang.Load())
		close(leave)
		b.shut()
	})
}

// Shutdown does not wait for a handler that is stuck, and waits for one until it is.
func TestShutdownBesideStuckHandlers(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.limited(2)
		leave := make(chan bool)
		b.handle = func(context.Context, core.Firing) error { <-leave; return nil }
		b.open()
		b.set("a", "", 0)
		b.set("b", "", 5*time.Second)
		time.Sleep(20 * time.Second)
		synctest.Wait()
		b.Equal(1, b.cfg.Crew.Stuck())
		begun := time.Now()
		b.shut()
		b.Equal(5*time.Second, time.Since(begun))
		synctest.Wait()
		b.Equal(2, b.cfg.Crew.Stuck())
		b.open()
		b.Len(b.keys(false), 2)
		b.crash()
		close(leave)
		synctest.Wait()
		b.Zero(b.cfg.Crew.Stuck())
		b.Equal(2, b.free())
	})
}

// A handler that is stuck when its partition has ended gives its place back all the same: other partitions need it.
func TestStuckAfterItsPartitionHasEnded(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.limited(1)
		leave := make(chan bool)
		b.handle = func(_ context.Context, f core.Firing) error { <-leave; return nil }
		b.open()
		b.set("a", "", 0)
		synctest.Wait()
		b.p.Abandon()
		b.p = nil
		b.Zero(b.free())
		time.Sleep(20 * time.Second)
		synctest.Wait()
		b.Equal(1, b.free())
		b.Equal(1, b.cfg.Crew.Stuck())
		close(leave)
		synctest.Wait()
		b.Equal(1, b.free())
		b.Zero(b.cfg.Crew.Stuck())
	})
}

// Settle waits for a handler whose time is over, until it is given up.
func TestSettleWaitsForHandlersBeyondTheirTime(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.limited(1)
		leave := make(chan bool)
		b.handle = func(context.Context, core.Firing) error { <-leave; return nil }
		b.open()
		b.set("a", "", 0)
		synctest.Wait()
		b.settles(time.Minute, 20*time.Second)
		close(leave)
		b.shut()
	})
}

// What a handler does that was given up ends the attempt that follows, as the calls of others do.
func TestCallsOfAStuckHandler(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.limited(2)
		leave, ends := make(chan bool), make(chan error, 1)
		b.handle = func(ctx context.Context, f core.Firing) error {
			switch {
			case f.Value != "":
				return nil
			case f.Attempt == 1:
				<-leave
				b.NoError(b.p.Do(context.WithoutCancel(ctx), &core.Call{Ops: []core.Op{{Kind: frame.Set, Key: []byte("a"), Value: []byte("2"), In: time.Minute}}}))
				return errors.New("too late")
			}
			<-ctx.Done()
			ends <- context.Cause(ctx)
			return nil
		}
		b.open()
		b.set("a", "", 0)
		time.Sleep(22 * time.Second)
		synctest.Wait()
		leave <- true
		b.Equal(context.Canceled, <-ends)
		time.Sleep(time.Minute)
		synctest.Wait()
		b.Empty(b.keys(false))
		b.Equal(uint64(1), b.p.Stats().Failed)
		b.Equal(2, b.free())
		b.shut()
	})
}

// Without a handler that waits, a mock clock on which there are limits goes on at once, and leaves nothing behind.
func TestLimitsOnAMockClock(t *testing.T) {
	b := newBench(t)
	b.limited(1)
	b.open()
	b.set("a", "", time.Second)
	b.set("b", "", time.Second)
	begun := time.Now()
	b.mock.Add(time.Second)
	b.Less(time.Since(begun), mockPatience)
	b.Equal([]string{"a", "b"}, b.took())
	_, pending := b.mock.Next()
	b.False(pending)
}

// free returns how many places for handlers are free.
func (b *bench) free() int {
	c := b.cfg.Crew
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.free
}
