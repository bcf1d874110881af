package remote

import (
	"context"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
)

// attempts has the handler wait until the test ends, and returns the contexts of its attempts.
func (b *bench) attempts() <-chan context.Context {
	began, end := make(chan context.Context), make(chan bool)
	b.t.Cleanup(func() { close(end) })
	b.part.Handle = func(ctx context.Context, _ core.Firing) error {
		began <- ctx
		<-end
		return nil
	}
	return began
}

// A handler's call on its own key does not end the context of its attempt when it comes by a message either: also if
// the lease of the owner has ended for a moment, and if a copy of it comes again. What others ask for does.
func TestOwnCallByMessage(t *testing.T) {
	for name, fate := range map[string]func(*owner) func(answer bool) time.Duration{
		"at once": func(*owner) func(bool) time.Duration { return func(bool) time.Duration { return 0 } },
		"twice":   func(*owner) func(bool) time.Duration { return func(bool) time.Duration { return twice } },
		"after a moment without the lease": func(o *owner) func(bool) time.Duration {
			o.lease.Store(false)
			return func(answer bool) time.Duration {
				if answer {
					o.lease.Store(true)
				}
				return 0
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			began := b.attempts()
			o := b.own()
			c, net := b.far()
			b.do(c, core.Op{Kind: 1, Key: []byte("a")}, setOp("b", ""))
			ctx := <-began
			derived, cancel := context.WithTimeout(ctx, time.Hour)
			defer cancel()
			net.setFate(fate(o))
			for _, own := range []core.Op{setOp("a", "1"), moveOp("a", time.Hour), removeOp("a"), setOp("a", "2")} {
				call, err := c.try(derived, moveOp("b", time.Hour), own)
				b.NoError(err)
				b.Equal([]bool{true, true}, call.Took)
				b.NoError(ctx.Err())
			}
			b.do(c, moveOp("b", time.Hour))
			b.NoError(ctx.Err())
			b.do(c, moveOp("a", time.Hour))
			b.ErrorIs(ctx.Err(), context.Canceled)
		})
	}
}

// To the next owner of the partition, which attempts the same timer, the call of the last one's handler is another's.
func TestOwnCallForTheNextOwner(t *testing.T) {
	b := newBench(t)
	began := b.attempts()
	first := b.own()
	c, net := b.far()
	b.do(c, core.Op{Kind: 1, Key: []byte("a")})
	before := <-began
	release := net.hold(false)
	sent := net.Messages.Load()
	ended := make(chan error)
	go func() {
		_, err := c.try(context.WithoutCancel(before), setOp("a", "1"))
		ended <- err
	}()
	b.Eventually(func() bool { return net.Messages.Load() > sent }, time.Minute, time.Millisecond)
	b.die(first)
	b.own()
	after := <-began
	b.NoError(after.Err())
	release()
	b.NoError(<-ended)
	b.ErrorIs(after.Err(), context.Canceled)
}
