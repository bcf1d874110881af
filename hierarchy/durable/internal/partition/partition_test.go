package partition

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/journal"
)

func TestLifeOfTimers(t *testing.T) {
	b := newBench(t)
	b.open()
	b.set("a", "1", 3*time.Second)
	b.set("b", "2", time.Second)
	b.setAt("c", "3", b.mock.Now().Add(2*time.Second))
	v, d := b.get("a")
	b.Equal("1", v)
	b.Equal(3*time.Second, d)
	b.True(b.move("a", 1500*time.Millisecond))
	b.False(b.move("x", 0))
	v, ok := b.remove("b")
	b.True(ok)
	b.Equal("2", v)
	_, ok = b.remove("b")
	b.False(ok)
	b.mock.Add(time.Second)
	b.Empty(b.took())
	b.mock.Add(500 * time.Millisecond)
	b.Equal([]string{"a"}, b.took())
	b.mock.Add(500 * time.Millisecond)
	b.Equal([]string{"c"}, b.took())
	b.Empty(b.keys(false))
}

// What was acknowledged is there after a crash and after an orderly end, with the same IDs.
func TestAllComesBack(t *testing.T) {
	for name, end := range map[string]func(*bench){"crash": (*bench).crash, "shutdown": (*bench).shut} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.open()
			b.set("a", "1", time.Minute)
			b.set("b", "2", time.Minute)
			b.set("b", "3", 2*time.Minute)
			b.set("c", "4", time.Minute)
			b.move("c", 3*time.Minute)
			b.set("d", "5", time.Minute)
			b.remove("d")
			b.setAt("e", "6", b.mock.Now().Add(4*time.Minute))
			b.set("f", "7", 0)
			b.mock.Add(0)
			b.Equal([]string{"f"}, b.took())
			a, _, _ := b.p.state.Find([]byte("a"))
			end(b)
			b.mock.Add(30 * time.Second)
			b.open()
			b.Equal(map[string]string{"a": "1", "b": "3", "c": "4", "e": "6"}, b.keys(false))
			for k, d := range map[string]time.Duration{"a": 30, "b": 90, "c": 150, "e": 210} {
				_, left := b.get(k)
				b.Equal(d*time.Second, left, k)
			}
			again, _, _ := b.p.state.Find([]byte("a"))
			b.Equal(a.ID, again.ID)
			b.mock.Add(time.Hour)
			b.Equal([]string{"a", "b", "c", "e"}, b.took())
		})
	}
}

func TestFailuresAreTriedAgainAndDie(t *testing.T) {
	b := newBench(t)
	b.handle = func(context.Context, Firing) error { return errHandler }
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

	for range 2 {
		b.Equal(map[string]string{"a": "1"}, b.keys(true))
		b.Empty(b.keys(false))
		v, _ = b.get("a")
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

func TestDeadTimersKeepTheirKeys(t *testing.T) {
	b := newBench(t)
	b.cfg.MaxAttempts = 1
	b.handle = func(context.Context, Firing) error { return errHandler }
	b.open()
	b.set("a", "1", 0)
	b.set("b", "2", 0)
	b.mock.Add(0)
	b.Len(b.keys(true), 2)
	v, ok := b.remove("a")
	b.True(ok)
	b.Equal("1", v)
	b.set("b", "3", time.Second)
	b.Empty(b.keys(true))
	b.Equal(map[string]string{"b": "3"}, b.keys(false))
}

func TestPanicAndGoexitAreFailures(t *testing.T) {
	b := newBench(t)
	b.handle = func(_ context.Context, f Firing) error {
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
	b.handle = func(ctx context.Context, f Firing) error {
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

// While an attempt runs, Move, Remove and Set of its key take hold.
func TestOperationsWhileAnAttemptRuns(t *testing.T) {
	for _, op := range []string{"move", "remove", "set"} {
		b := newBench(t)
		b.open()
		b.handle = func(ctx context.Context, f Firing) error {
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

func TestCallsOfManyOperations(t *testing.T) {
	b := newBench(t)
	b.open()
	b.set("old", "0", time.Minute)
	at := func(d time.Duration) int64 { return b.p.Now() + int64(d) }
	c := &Call{Asks: []Ask{
		{Kind: frame.Set, Key: []byte("a"), Value: []byte("1"), Due: at(time.Second)},
		{Kind: frame.Move, Key: []byte("a"), Due: at(2 * time.Second)},
		{Kind: frame.Move, Key: []byte("none"), Due: at(time.Second)},
		{Kind: frame.Set, Key: []byte("b"), Value: []byte("2"), Due: at(time.Second)},
		{Kind: frame.Remove, Key: []byte("b")},
		{Kind: frame.Move, Key: []byte("b"), Due: at(time.Second)},
		{Kind: frame.Remove, Key: []byte("old")},
		{Kind: frame.Remove, Key: []byte("old")},
	}}
	before := b.disk.Appends
	b.NoError(b.p.Do(t.Context(), c))
	b.Equal(before+1, b.disk.Appends)
	b.Equal([]bool{true, true, false, true, true, false, true, false}, c.Took)
	b.crash()
	b.open()
	b.Equal(map[string]string{"a": "1"}, b.keys(false))
	b.mock.Add(time.Hour)
	b.Equal([]string{"a"}, b.took())
}

func TestNothingIsWrittenForWhatTakesNoHold(t *testing.T) {
	b := newBench(t)
	b.open()
	before := b.disk.Appends
	b.False(b.move("a", 0))
	_, ok := b.remove("a")
	b.False(ok)
	b.False(b.revive("a"))
	b.Equal(before, b.disk.Appends)
}

func TestMaxPending(t *testing.T) {
	b := newBench(t)
	b.cfg.MaxPending = 2
	b.open()
	b.set("a", "1", time.Minute)
	b.set("b", "1", time.Minute)
	set := func(k string) Ask {
		return Ask{Kind: frame.Set, Key: []byte(k), Due: b.p.Now() + int64(time.Minute)}
	}
	_, err := b.try(set("c"))
	b.ErrorIs(err, ErrFull)
	b.set("b", "2", time.Minute) // it is there already
	c := &Call{Asks: []Ask{{Kind: frame.Remove, Key: []byte("a")}, set("c"), set("d")}}
	b.ErrorIs(b.p.Do(t.Context(), c), ErrFull)
	b.Len(b.keys(false), 2)
	c = &Call{Asks: []Ask{set("c"), {Kind: frame.Remove, Key: []byte("a")}, set("c")}}
	b.NoError(b.p.Do(t.Context(), c))
	b.Equal(map[string]string{"b": "2", "c": ""}, b.keys(false))
	b.crash()
	b.cfg.MaxPending = 1 // what is there stays, and can be set again
	b.open()
	b.Len(b.keys(false), 2)
	b.set("b", "3", time.Minute)
	_, err = b.try(set("d"))
	b.ErrorIs(err, ErrFull)
}

func TestTooLarge(t *testing.T) {
	b := newBench(t)
	b.open()
	_, err := b.try(Ask{Kind: frame.Set, Key: []byte("a"), Value: []byte(strings.Repeat("v", 1<<20))})
	b.ErrorIs(err, ErrTooLarge)
	c := &Call{Asks: make([]Ask, MaxOps+1)}
	b.ErrorIs(b.p.Do(t.Context(), c), ErrTooLarge)
	b.set("a", strings.Repeat("v", 1<<19), 0)
}

// Set's timers do not follow the wall clock, and SetAt's do.
func TestWallClockIsSet(t *testing.T) {
	for _, jump := range []time.Duration{time.Hour, -time.Hour} {
		b := newBench(t)
		b.open()
		b.set("a", "1", time.Minute)
		b.setAt("b", "1", b.mock.Now().Add(2*time.Minute))
		b.mock.Jump(jump)
		b.mock.Add(0)
		_, left := b.get("a")
		b.Equal(time.Minute, left)
		b.move("x", 0)
		b.set("y", "", 2*time.Hour) // has the alarm aimed anew
		b.mock.Add(time.Minute)
		if jump > 0 {
			b.Equal([]string{"b", "a"}, b.took())
			continue
		}
		b.Equal([]string{"a"}, b.took())
		b.mock.Add(time.Hour)
		b.Empty(b.took())
		b.mock.Add(time.Minute)
		b.Equal([]string{"b"}, b.took())
	}
}

// After the wall clock went forward and back, timers are not early.
func TestWallClockGoesBackAfterFiring(t *testing.T) {
	b := newBench(t)
	b.open()
	begun := b.mock.Now()
	b.mock.Jump(time.Hour)
	b.setAt("a", "", begun)
	b.mock.Add(0)
	b.Equal([]string{"a"}, b.took())
	b.mock.Jump(-time.Hour)
	b.setAt("b", "", begun.Add(30*time.Minute))
	b.mock.Add(0)
	b.Empty(b.took())
	b.mock.Add(30 * time.Minute)
	b.Equal([]string{"b"}, b.took())
}

func TestShutdownWaitsForHandlers(t *testing.T) {
	b := newBench(t)
	b.cfg.Clock = nil
	b.cfg.Clock = realClock()
	entered, leave := make(chan bool), make(chan bool)
	b.handle = func(context.Context, Firing) error { entered <- true; <-leave; return nil }
	b.open()
	b.set("a", "1", 0)
	<-entered
	ended := make(chan error)
	go func() { ended <- b.p.Shutdown(t.Context()) }()
	select {
	case <-ended:
		t.Fatal("Shutdown did not wait")
	case <-time.After(20 * time.Millisecond):
	}
	leave <- true
	b.NoError(<-ended)
	_, err := b.try(Ask{Kind: frame.Set, Key: []byte("b")})
	b.ErrorIs(err, ErrClosed)
	_, _, _, err = b.p.Get([]byte("b"))
	b.ErrorIs(err, ErrClosed)
	b.open()
	b.Empty(b.keys(false))
	b.shut()
}

// When its context ends, Shutdown ends those of the handlers. Their timers come again.
func TestShutdownEndsHandlersContexts(t *testing.T) {
	b := newBench(t)
	b.cfg.Clock = realClock()
	entered, left := make(chan bool), make(chan bool)
	b.handle = func(ctx context.Context, _ Firing) error {
		entered <- true
		<-ctx.Done()
		left <- true
		return ctx.Err()
	}
	b.open()
	b.set("a", "1", 0)
	<-entered
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b.ErrorIs(b.p.Shutdown(ctx), context.Canceled)
	<-left
	b.handle = func(context.Context, Firing) error { entered <- true; return nil }
	b.open()
	<-entered
	b.shut()
}

// No more handlers run than the crew has places, over all partitions.
func TestCrewLimitsHandlers(t *testing.T) {
	b := newBench(t)
	b.cfg.Clock = realClock()
	b.cfg.Crew = NewCrew(2)
	entered, leave := make(chan string), make(chan bool)
	b.handle = func(_ context.Context, f Firing) error { entered <- f.Key; <-leave; return nil }
	b.open()
	for _, k := range []string{"a", "b", "c", "d"} {
		b.set(k, "", 0)
	}
	keys := []string{<-entered, <-entered}
	select {
	case <-entered:
		t.Fatal("a third handler runs")
	case <-time.After(20 * time.Millisecond):
	}
	for range 2 {
		leave <- true
		keys = append(keys, <-entered)
	}
	b.ElementsMatch([]string{"a", "b", "c", "d"}, keys)
	leave <- true
	leave <- true
	b.shut()
}

// While the log does not answer, nothing is fired, and calls are given up. Then all goes on.
func TestLogThatDoesNotAnswer(t *testing.T) {
	b := newBench(t)
	b.cfg.GiveUp = 10 * time.Millisecond
	b.open()
	b.set("a", "1", time.Second)
	b.disk.SetFull(true)
	_, err := b.try(Ask{Kind: frame.Set, Key: []byte("b"), Due: b.p.Now() + int64(time.Minute)})
	b.ErrorIs(err, ErrUnavailable)
	b.ErrorContains(err, "no space left")
	_, err = b.try(Ask{Kind: frame.Set, Key: []byte("c")})
	b.ErrorIs(err, ErrUnavailable)
	v, _ := b.get("a") // is not unavailable
	b.Equal("1", v)
	b.mock.Add(time.Second)
	b.Empty(b.took())
	b.disk.SetFull(false)
	b.Eventually(func() bool {
		_, err := b.try(Ask{Kind: frame.Move, Key: []byte("a"), Due: b.p.Now()})
		return err == nil
	}, 10*time.Second, time.Millisecond)
	b.mock.Add(0)
	b.Equal([]string{"a"}, b.took())
	b.Equal(map[string]string{"b": ""}, b.keys(false)) // it was under way, and took hold
}

// Another owner ends this one, which has not been told.
func TestOldOwnerIsRefused(t *testing.T) {
	b := newBench(t)
	b.open()
	b.set("a", "1", time.Minute)
	old, oldLog := b.p, b.log
	b.open()
	b.set("b", "2", time.Minute)
	err := old.Do(t.Context(), &Call{Asks: []Ask{{Kind: frame.Remove, Key: []byte("a")}}})
	b.ErrorIs(err, ErrUnavailable)
	b.ErrorIs(err, journal.ErrTaken)
	_, _, _, err = old.Get([]byte("a"))
	b.ErrorIs(err, ErrUnavailable)
	b.Greater(b.p.Epoch(), old.Epoch())
	b.Equal(map[string]string{"a": "1", "b": "2"}, b.keys(false))
	old.kill(oldLog)
}

// IDs of a restored backup are not those of the original.
func TestIDsOfACopyDiffer(t *testing.T) {
	b := newBench(t)
	b.open()
	b.set("old", "", time.Minute)
	b.shut()
	backup := b.disk.Copy()
	id := func(k string) frame.ID {
		t, _, ok := b.p.state.Find([]byte(k))
		b.True(ok)
		return t.ID
	}
	b.open()
	b.set("a", "", time.Minute)
	a, old := id("a"), id("old")
	b.crash()
	b.disk = backup
	b.open()
	b.set("a", "", time.Minute)
	b.NotEqual(a, id("a"))
	b.Equal(old, id("old"))
}

func TestIdleWritesNothing(t *testing.T) {
	b := newBench(t)
	b.cfg.MarkEvery = time.Millisecond
	b.open()
	b.set("a", "", 1000*time.Hour)
	before := b.disk.Appends
	b.mock.Add(999 * time.Hour)
	require.Equal(t, before, b.disk.Appends)
	require.Nil(t, b.disk.Open().Trim(t.Context(), 1))
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
	b.handle = func(context.Context, Firing) error { entered <- true; <-leave; return nil }
	b.open()
	b.set("a", "old", 0)
	<-entered
	queued := func(n int) {
		b.Eventually(func() bool {
			b.p.queue.mu.Lock()
			defer b.p.queue.mu.Unlock()
			return len(b.p.queue.items) == n
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
