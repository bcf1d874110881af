package partition

import (
	"context"
	"testing"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

func TestShutdownWaitsForHandlers(t *testing.T) {
	b := newBench(t)
	b.cfg.Clock = nil
	b.cfg.Clock = realClock()
	entered, leave := make(chan bool), make(chan bool)
	b.handle = func(context.Context, core.Firing) error { entered <- true; <-leave; return nil }
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
	_, err := b.try(core.Op{Kind: frame.Set, Key: []byte("b")})
	b.ErrorIs(err, core.ErrClosed)
	_, _, _, err = b.p.Get([]byte("b"))
	b.ErrorIs(err, core.ErrClosed)
	b.open()
	b.Empty(b.keys(false))
	b.shut()
}

// When its context ends, Shutdown ends those of the handlers. Their timers come again.
func TestShutdownEndsHandlersContexts(t *testing.T) {
	b := newBench(t)
	b.cfg.Clock = realClock()
	entered, left := make(chan bool), make(chan bool)
	b.handle = func(ctx context.Context, _ core.Firing) error {
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
	b.handle = func(context.Context, core.Firing) error { entered <- true; return nil }
	b.open()
	<-entered
	b.shut()
}
