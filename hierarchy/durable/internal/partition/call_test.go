package partition

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

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
