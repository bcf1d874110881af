package cluster

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/remote"
)

// ownBench is a process whose handler runs until the test ends.
type ownBench struct {
	*world
	*process
	ctx     context.Context // of the handler
	appends chan bool       // each append of the log needs one
}

// ask has a process ask for something, and returns when a message was sent.
func (b *ownBench) begin(ctx context.Context, do func(context.Context, int, *core.Call) error, a core.Op) <-chan error {
	sent, done := b.conn.Stats().OutMsgs, make(chan error, 1)
	go func() { done <- do(ctx, 1, &core.Call{Ops: []core.Op{a}}) }()
	b.eventually("sent", func() bool { return b.conn.Stats().OutMsgs > sent })
	return done
}

// send sends a call to the owner, though that is this process.
func (b *ownBench) send(ctx context.Context, at int, call *core.Call) error {
	return b.client.Do(ctx, at, call, b.client.Now())
}

// A handler's call on its own key does not end the context of its attempt, whichever way it goes. What others ask for
// does.
func TestOwnCallOfAHandler(t *testing.T) {
	own := core.Op{Kind: frame.Set, Key: []byte("key1"), Value: []byte("own"), In: time.Hour}
	for name, do := range map[string]func(*ownBench) error{
		"by a call": func(b *ownBench) error {
			close(b.appends)
			return b.Do(b.ctx, 1, &core.Call{Ops: []core.Op{own}})
		},
		"by a message, as the lease has ended for a moment": func(b *ownBench) error {
			close(b.appends)
			b.store.Cut(true)
			b.eventually("without the lease", func() bool { return !b.latest().member.Holds() })
			done := b.begin(b.ctx, b.Do, own)
			b.store.Cut(false)
			return <-done
		},
		"by a message, as another was given up": func(b *ownBench) error {
			ctx, cancel := context.WithCancel(b.t.Context())
			done := b.begin(ctx, b.send, core.Op{Kind: frame.Remove, Key: []byte("other1")})
			cancel()
			b.ErrorIs(<-done, context.Canceled)
			b.False(b.client.Settled(1))
			done = b.begin(b.ctx, b.Do, own)
			close(b.appends)
			return <-done
		},
		"by a message of another caller in this program": func(b *ownBench) error {
			close(b.appends)
			c, err := remote.New(b.remote())
			b.NoError(err)
			defer c.Close()
			return c.Do(b.ctx, 1, &core.Call{Ops: []core.Op{own}}, c.Now())
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newOwnBench(t)
			b.NoError(do(b))
			b.NoError(b.ctx.Err())
			b.Equal("own", b.keys()["key1"])
			b.set("key1", "", time.Hour)
			b.ErrorIs(b.ctx.Err(), context.Canceled)
		})
	}
}

func newOwnBench(t *testing.T) *ownBench {
	w := newWorld(t)
	b := &ownBench{world: w, process: w.process(), appends: make(chan bool, 1)}
	b.process.answer = patience // an append that is tried again would need another turn
	began, end := make(chan context.Context), make(chan bool)
	w.handle = func(ctx context.Context, _ core.Firing) error {
		began <- ctx
		<-end
		return nil
	}
	b.NoError(b.process.open(t.Context()))
	t.Cleanup(func() { close(end) })
	b.NoError(b.send(t.Context(), 1, &core.Call{Ops: []core.Op{{Kind: frame.Remove, Key: []byte("other1")}}}))
	b.logs[1].Before = func(uint64) { <-b.appends }
	b.appends <- true
	b.set("key1", "", 0)
	b.ctx = <-began
	return b
}

// A timer can be begun as soon as it is announced, also if its partition has been taken over just now.
func TestAnnouncedByAnOwnerThatIsKnown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.open(), w.process()
	begun := make(chan bool, partitions)
	b.announce = func(f core.Firing) error {
		p, err := b.Partition(of(f.Key))
		if p == nil || err != nil {
			begun <- false
			return nil
		}
		go func() { // a lock of the partition is held
			attempt, ok := p.Begin([]byte(f.Key), f.ID)
			if begun <- ok; ok {
				_, _ = attempt.End(t.Context(), nil)
			}
		}()
		return nil
	}
	w.NoError(b.open(t.Context()))
	w.eventually("two each", func() bool { return a.owns() == 2 && b.owns() == 2 })
	for at := range partitions {
		a.set(fmt.Sprint("key", at), "", lease) // when their owner is dead
	}
	a.kill()
	for range partitions {
		w.True(<-begun)
	}
	w.eventually("ended", func() bool { return b.owns() == partitions && len(b.keys()) == 0 })
}
