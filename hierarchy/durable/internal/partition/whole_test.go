package partition

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

func wholeOp(k string) core.Op { return core.Op{Kind: frame.Remove, Whole: true, Key: []byte(k)} }

// whole removes a key and returns what it had.
func (b *bench) whole(k string) (state.Timer, bool) {
	c := &core.Call{Ops: []core.Op{wholeOp(k)}}
	b.NoError(b.p.Do(b.t.Context(), c))
	return core.Was(strings.Join(c.Values, ""))
}

// A timer that falls due while it is being removed is not handed over, as its caller is told that it was not.
func TestTimerFallsDueWhileItIsRemoved(t *testing.T) {
	for _, id := range []core.RequestID{{}, {Caller: 7, Serial: 1, Floor: 1}} {
		inBubble(t, func(b *bench) {
			hold, held := b.openHeld()
			b.log.Before = nil
			b.set("a", "1", time.Millisecond)
			first := true
			b.log.Before = func(uint64) {
				if first {
					first = false
					held <- true
					<-hold
				}
			}
			c := &core.Call{Ops: []core.Op{wholeOp("a")}, Request: id}
			started := b.start(c)
			<-held
			time.Sleep(10 * time.Millisecond) // it would be in doubt after 20
			synctest.Wait()
			hold <- true
			b.NoError(started.Wait(b.t.Context()))
			got, ok := core.Was(c.Values[0])
			b.True(ok)
			b.Equal(state.Timer{Value: "1", ID: got.ID, Due: got.Due}, got)
			time.Sleep(time.Minute)
			b.Empty(b.took())
			b.shut()
		})
	}
}

// A timer whose handler was called is running until its result is in the log, also if the handler has returned.
func TestRemovedWhileItRuns(t *testing.T) {
	inBubble(t, func(b *bench) {
		leave := map[string]chan error{"a": make(chan error), "b": make(chan error)}
		b.handle = func(_ context.Context, f core.Firing) error { return <-leave[f.Key] }
		b.open()
		b.set("a", "1", 0)
		b.set("b", "2", 0)
		synctest.Wait()
		got, ok := b.whole("a")
		b.True(ok)
		b.Equal(state.Timer{Value: "1", ID: got.ID, Due: got.Due, Attempt: 1, Running: true}, got)
		leave["a"] <- errHandler

		hold, held := make(chan bool), make(chan bool)
		var once sync.Once
		b.log.Before = func(uint64) { once.Do(func() { held <- true; <-hold }) }
		go b.set("other", "", time.Hour)
		<-held
		c := &core.Call{Ops: []core.Op{wholeOp("b")}}
		started := b.start(c) // before the result
		leave["b"] <- errHandler
		synctest.Wait()
		hold <- true
		b.NoError(started.Wait(b.t.Context()))
		got, _ = core.Was(c.Values[0])
		b.Equal(state.Timer{Value: "2", ID: got.ID, Due: got.Due, Attempt: 1, Running: true}, got)
		b.shut()
	})
}

// What was in the frame before counts: a result, a Set, a Move.
func TestRemovedBehindOthersInItsFrame(t *testing.T) {
	inBubble(t, func(b *bench) {
		leave := make(chan error)
		b.handle = func(context.Context, core.Firing) error { return <-leave }
		b.open()
		b.set("fails", "1", 0)
		b.set("sets", "2", time.Hour)
		b.set("moves", "3", time.Hour)
		synctest.Wait()
		hold, held := make(chan bool), make(chan bool)
		var once sync.Once
		b.log.Before = func(uint64) { once.Do(func() { held <- true; <-hold }) }
		go b.set("other", "", time.Hour)
		<-held
		leave <- errHandler
		synctest.Wait()
		c := &core.Call{Ops: []core.Op{b.setOp("sets", "new"), {Kind: frame.Move, Key: []byte("moves")}, wholeOp("fails"), wholeOp("sets"), wholeOp("moves")}}
		started := b.start(c)
		hold <- true
		b.NoError(started.Wait(b.t.Context()))
		var values []string
		for _, text := range c.Values {
			got, ok := core.Was(text)
			b.True(ok)
			b.False(got.Running)
			b.Equal(got.Value == "1", got.Attempt == 1)
			b.NotZero(got.ID)
			values = append(values, got.Value)
		}
		b.Equal([]string{"1", "new", "3"}, values)
		b.shut()
	})
}

// A repetition gets the timer that the first copy took out, also from the next owner.
func TestWholeOnce(t *testing.T) {
	b := newBench(t)
	b.open()
	b.set("a", "1", time.Hour)
	ask := func() []string {
		c, err := b.request(1, wholeOp("a"))
		b.NoError(err)
		b.True(c.Took[0])
		return c.Values
	}
	first := ask()
	b.set("a", "2", time.Hour)
	b.Equal(first, ask())
	b.reopen()
	b.Equal(first, ask())
	b.Equal(map[string]string{"a": "2"}, b.keys(false))
	c, err := b.request(2, wholeOp("none"), core.Op{Kind: frame.Set, Whole: true, Key: []byte("a"), Value: []byte("3"), In: time.Hour}, wholeOp("a"))
	b.NoError(err)
	b.Equal([]bool{false, true, true}, c.Took)
	b.Len(c.Values, 2)
	for i, want := range []string{"2", "3"} {
		got, ok := core.Was(c.Values[i])
		b.True(ok)
		b.Equal(want, got.Value)
	}
}

// If the removal is not committed, as the log takes less than before, the timer fires.
func TestRemovalThatIsTooLarge(t *testing.T) {
	inBubble(t, func(b *bench) {
		hold, held := b.openHeld()
		b.log.Before = nil
		b.set("a", strings.Repeat("v", 10<<10), time.Millisecond)
		var once sync.Once
		b.log.Before = func(uint64) { once.Do(func() { held <- true; <-hold }) }
		c := &core.Call{Ops: []core.Op{wholeOp("a"), b.setOp("large", strings.Repeat("v", 100<<10))}}
		started := b.start(c)
		<-held
		time.Sleep(10 * time.Millisecond)
		b.Empty(b.took())
		b.log.Max = 64 << 10
		hold <- true
		b.ErrorIs(started.Wait(b.t.Context()), core.ErrTooLarge)
		b.set("b", "", time.Hour)
		synctest.Wait()
		b.Equal([]string{"a"}, b.took())
		b.shut()
	})
}

// A handler that waits for the frame does not hold up the end of its owner, and is not called any more.
func TestEndWhileATimerIsRemoved(t *testing.T) {
	inBubble(t, func(b *bench) {
		hold, held := b.openHeld()
		b.log.Before = nil
		b.set("a", "1", time.Millisecond)
		var once sync.Once
		b.log.Before = func(uint64) { once.Do(func() { held <- true; <-hold }) }
		c := &core.Call{Ops: []core.Op{wholeOp("a")}}
		started := b.start(c)
		<-held
		time.Sleep(10 * time.Millisecond)
		p, log := b.p, b.log
		b.p = nil
		go func() { log.Close(); hold <- true }()
		p.kill(log)
		b.Error(started.Wait(b.t.Context()))
		synctest.Wait()
		b.Empty(b.took())
	})
}

// An attempt that has begun, and whose handler is about to be called, does not count: it will not be called.
func TestRemovedBeforeItsHandlerIsCalled(t *testing.T) {
	b := newBench(t)
	b.open()
	b.set("a", "1", time.Second)
	b.p.mu.Lock()
	d, ok := b.p.core.State.Pop(b.p.time.now()+int64(time.Hour), 0)
	b.True(ok)
	id := b.p.core.State.Timer(d.Ref).ID
	a := b.p.firer.started(core.Job{Ref: d.Ref, ID: id, Number: 1, Due: d}, nil)
	b.p.mu.Unlock()
	got, ok := b.whole("a")
	b.True(ok)
	b.Equal(state.Timer{Value: "1", ID: id, Due: got.Due}, got)
	b.ErrorIs(b.p.firer.mayHandle(a), errGone)
}
