package partition

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/epicycle-go/epicycle/clock"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// A call that is answered while its context ends has its own answer, and leaves nothing that the
// next use of the Pending takes for one.
func TestAnswerAtTheEndOfTheContext(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	var room sync.Pool
	for range 100 { // select takes either of what is ready
		c := newPending(new(core.Call), &room)
		c.answer(nil)
		require.NoError(t, c.Wait(ended))
		c = newPending(new(core.Call), &room)
		require.ErrorIs(t, c.Wait(ended), context.Canceled)
	}
}

// inBubble runs a test on a clock that passes by itself.
func inBubble(t *testing.T, test func(*bench)) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.cfg.Clock = clock.System()
		test(b)
	})
}

// Each call that waits for the log is given up, also one that was taken from the queue and is not
// in the frame under way.
func TestCallsOfTheNextFrameAreGivenUp(t *testing.T) {
	inBubble(t, func(b *bench) {
		hold, held := b.openHeld()
		errs := make(chan error, 5)
		large := make([]byte, core.FrameBytes/3)
		ask := func(i int) {
			errs <- b.p.Do(b.t.Context(), &core.Call{Ops: []core.Op{{Kind: frame.Set, Key: []byte{byte(i)}, Value: large}}})
		}
		go ask(0)
		<-held
		for i := range 4 {
			go ask(1 + i)
		}
		synctest.Wait()
		appends := 0
		b.log.After = func(uint64) {
			if appends++; appends == 1 {
				b.disk.SetFull(true)
			}
		}
		hold <- true
		begun := time.Now()
		b.NoError(<-errs)
		for range 4 {
			b.ErrorIs(<-errs, ErrUnavailable)
		}
		b.LessOrEqual(time.Since(begun), 61*time.Second)
		b.disk.SetFull(false)
		time.Sleep(time.Minute)
		b.shut()
	})
}

// A handler that exits its goroutine has failed, as on a mock clock.
func TestExitOnARealClock(t *testing.T) {
	inBubble(t, func(b *bench) {
		exits := 0
		b.handle = func(context.Context, core.Firing) error {
			if exits++; exits < 3 {
				exit()
			}
			return nil
		}
		b.open()
		b.set("a", "", time.Second)
		time.Sleep(time.Minute)
		b.Len(b.took(), 3)
		b.Empty(b.keys(false))
		b.Empty(b.keys(true))
		b.shut()
	})
}

// Without its lease, an owner does not answer from memory, also not that nothing was changed.
func TestNothingIsAnsweredWithoutTheLease(t *testing.T) {
	b := newBench(t)
	var tenure atomic.Bool
	tenure.Store(true)
	b.cfg.Tenure = tenure.Load
	b.open()
	b.False(b.move("a", 0))
	tenure.Store(false)
	_, err := b.try(core.Op{Kind: frame.Move, Key: []byte("a")})
	b.ErrorIs(err, ErrUnavailable)
	_, _, _, err = b.p.Get([]byte("a"))
	b.ErrorIs(err, ErrUnavailable)
	_, err = b.p.Len()
	b.ErrorIs(err, ErrUnavailable)
}

// A call that changes nothing, and whose lease ends while it is in the queue, can be retried with another owner at once.
func TestLeaseEndsWhileACallIsInTheQueue(t *testing.T) {
	inBubble(t, func(b *bench) {
		var tenure atomic.Bool
		tenure.Store(true)
		b.cfg.Tenure = tenure.Load
		b.open()
		c := &core.Call{Ops: []core.Op{{Kind: frame.Move, Key: []byte("a")}}}
		started := b.begun(c)
		tenure.Store(false) // after Start has looked at it
		b.NoError(b.p.writer.queue.put(item{kind: called, call: started}))
		b.ErrorIs(started.Wait(b.t.Context()), ErrNotOwner)
		tenure.Store(true)
		b.shut()
	})
}

// A call whose context has ended before is not committed.
func TestCallAfterTheEndOfItsContext(t *testing.T) {
	b := newBench(t)
	b.open()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := &core.Call{Ops: []core.Op{{Kind: frame.Set, Key: []byte("a")}}}
	b.ErrorIs(b.p.Do(ctx, c), context.Canceled)
	b.move("b", 0) // the writer has seen all before it
	b.Empty(b.keys(false))
}
