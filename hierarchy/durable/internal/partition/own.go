package partition

import (
	"bytes"
	"context"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
)

// A handler may set, move or remove the timer that it is called for. If it passes its own context, that context is not
// cancelled. Otherwise the handler could not distinguish its own call from others, and the call would return the error
// of the context although it was committed. The operation carries the random number of the attempt (Attempt.Name),
// because it may reach the owner in a message instead of a call.

// attemptKey is the key under which the context of an attempt holds the attempt.
type attemptKey struct{}

// MarkOwn sets the By of the operations of c that a handler requests on its own key. It recognizes such a handler by ctx,
// which is the context of its attempt or derived from that. Do calls MarkOwn.
func MarkOwn(ctx context.Context, c *core.Call) {
	a, _ := ctx.Value(attemptKey{}).(*attempt)
	for i := range c.Ops {
		ask := &c.Ops[i]
		if ask.By = 0; a != nil && bytes.Equal(a.Key, ask.Key) {
			ask.By = a.Name
		}
	}
}
