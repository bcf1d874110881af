package partition

import (
	"bytes"
	"context"
	"slices"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// A handler may set, move or remove the timer that it is called for. If it passes its own context, that context is not
// cancelled. Otherwise the handler could not distinguish its own call from others, and the call would return the error
// of the context although it was committed. The operation carries the random number of the attempt (attempt.name),
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
			ask.By = a.name
		}
	}
}

// Superseded implements core.Attempts: it ends the attempt of the timer. If by is not its name, its context is cancelled.
func (f *firer) Superseded(ref state.Ref, by uint64) {
	a := f.attempts[ref]
	if a == nil {
		return
	}
	f.mu.assertHeld()
	f.remove(a)
	if a.name != by {
		a.cancel(nil)
		return
	}
	if f.outdone == nil {
		f.outdone = make(map[string][]*attempt)
	}
	f.outdone[string(a.Key)] = append(f.outdone[string(a.Key)], a)
}

// Changed implements core.Attempts. It ends the attempt by that name, if the operation is its end. It cancels the contexts of attempts whose handlers have changed
// their own key before, and still run, but not the context of the attempt by that name.
func (f *firer) Changed(op *frame.Op, by uint64) {
	f.mu.assertHeld()
	switch op.Kind {
	case frame.End, frame.Fail, frame.Die, frame.Next:
		f.endedBy(by)
	case frame.Begin:
		f.remove(f.lasting[op.Name])
	case frame.Set, frame.SetAt, frame.Move, frame.MoveAt, frame.Remove, frame.Import:
		for _, a := range f.outdone[string(op.Key)] {
			if a.name != by {
				a.cancel(nil)
			}
		}
	}
}

// handled removes an attempt from outdone, after its handler has returned.
func (f *firer) handled(a *attempt) {
	f.mu.assertHeld()
	all, ok := f.outdone[string(a.Key)]
	if !ok {
		return
	}
	all = slices.DeleteFunc(all, func(b *attempt) bool { return a == b })
	if f.outdone[string(a.Key)] = all; len(all) == 0 {
		delete(f.outdone, string(a.Key))
	}
}
