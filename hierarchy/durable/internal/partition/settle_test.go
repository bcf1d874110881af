package partition

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// Settle waits for the handlers that run, and for no later ones. What is superseded is not waited for.
func TestSettle(t *testing.T) {
	inBubble(t, func(b *bench) {
		takes := map[string]time.Duration{"a": time.Second, "b": 3 * time.Second, "c": time.Hour}
		b.handle = func(ctx context.Context, f core.Firing) error {
			time.Sleep(takes[f.Key])
			return nil
		}
		b.open()
		b.settles(time.Minute, 0)
		b.set("a", "", 0)
		b.set("b", "", 0)
		b.set("c", "", time.Millisecond)
		synctest.Wait()
		b.settles(time.Minute, 3*time.Second)
		b.settles(time.Minute, time.Minute) // for c
		b.do(core.Op{Kind: frame.Set, Key: []byte("c"), In: 2 * time.Hour})
		b.settles(time.Minute, 0)
		b.shut()
	})
}

// Settle ends with the partition.
func TestSettleEnds(t *testing.T) {
	inBubble(t, func(b *bench) {
		leave := make(chan bool)
		b.handle = func(context.Context, core.Firing) error { <-leave; return nil }
		b.open()
		b.set("a", "", 0)
		synctest.Wait()
		time.AfterFunc(time.Second, b.p.Abandon)
		b.settles(time.Minute, time.Second)
		close(leave)
		b.p = nil
	})
}

// settles calls Settle with a limit, and expects it to return after a time.
func (b *bench) settles(limit, after time.Duration) {
	ctx, cancel := context.WithTimeout(b.t.Context(), limit)
	defer cancel()
	begun := time.Now()
	b.p.Settle(ctx)
	b.Equal(after, time.Since(begun))
}
