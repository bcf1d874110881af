package partition

import (
	"context"
	"time"

	"testing"
	"testing/synctest"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// What a handler does to its own key, with the context of its attempt or one derived from it, is answered and does not
// end that context. The attempt's result is ignored all the same. What others do to the key ends the context, before
// or after that.
func TestOwnCallOfAHandler(t *testing.T) {
	for name, own := range map[string]core.Op{
		"set":    {Kind: frame.Set, Key: []byte("a"), Value: []byte("2"), In: time.Hour},
		"set at": {Kind: frame.SetAt, Key: []byte("a"), Value: []byte("2"), Due: time.Now().Add(1e6 * time.Hour).UnixNano()},
		"move":   {Kind: frame.Move, Key: []byte("a"), In: time.Hour},
		"remove": {Kind: frame.Remove, Key: []byte("a")},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bench) {
				after := make(chan error)
				b.handle = func(ctx context.Context, f core.Firing) error {
					if f.Value != "1" || f.Attempt > 1 {
						return nil
					}
					derived, cancel := context.WithTimeout(ctx, time.Minute)
					defer cancel()
					for _, with := range []context.Context{ctx, derived} {
						c := &core.Call{Ops: []core.Op{{Kind: frame.Set, Key: []byte("b"), In: time.Hour}, own}}
						b.NoError(b.p.Do(with, c))
						b.Equal([]bool{true, with == ctx || own.Kind != frame.Remove}, c.Took)
					}
					synctest.Wait()
					after <- ctx.Err()
					<-ctx.Done()
					after <- context.Cause(ctx)
					return errHandler
				}
				b.open()
				b.set("a", "1", 0)
				b.NoError(<-after)
				b.set("a", "last", time.Hour)
				b.ErrorIs(<-after, context.Canceled)
				synctest.Wait()
				b.Equal(map[string]string{"a": "last", "b": ""}, b.keys(false))
				b.Zero(b.p.core.Numbers().Outdone)
				b.shut()
			})
		})
	}
}

// The context of another attempt is another's, and so is that of an attempt of another partition.
func TestOwnCallIsOfTheKey(t *testing.T) {
	inBubble(t, func(b *bench) {
		other := &attempt{Attempt: core.Attempt{Name: 1}}
		ended := make(chan error)
		b.handle = func(ctx context.Context, f core.Firing) error {
			switch f.Key {
			case "b":
				c := &core.Call{Ops: []core.Op{{Kind: frame.Remove, Key: []byte("a")}}}
				b.NoError(b.p.Do(ctx, c))
				b.NoError(ctx.Err())
			default:
				<-ctx.Done()
				ended <- ctx.Err()
			}
			return nil
		}
		b.open()
		b.set("a", "", 0)
		synctest.Wait() // its handler runs
		b.set("b", "", 0)
		b.ErrorIs(<-ended, context.Canceled)
		b.set("c", "", 0)
		synctest.Wait()
		other.Key = []byte("c")
		b.NoError(b.p.Do(context.WithValue(b.t.Context(), attemptKey{}, other), &core.Call{Ops: []core.Op{removeOp("c")}}))
		b.ErrorIs(<-ended, context.Canceled)
		b.shut()
	})
}
