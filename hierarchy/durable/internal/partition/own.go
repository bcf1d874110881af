package partition

import (
	"bytes"
	"context"
	"slices"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// A handler may set, move or remove the timer that it is called for. That does not end the context of its attempt,
// if the call has that context: else it could not distinguish its own call from others, and the call would end with the
// error of the context though it is committed. The operation carries the name of the attempt, because it may reach the
// owner by a message instead of a call.

// attemptKey is the key of the attempt in its context.
type attemptKey struct{}

// From notes which operations of c are a handler's on its own key: ctx is the context of its attempt then, or derived
// from it. Do calls it.
func (c *Call) From(ctx context.Context) {
	a, _ := ctx.Value(attemptKey{}).(*attempt)
	for i := range c.Ops {
		ask := &c.Ops[i]
		if ask.By = 0; a != nil && bytes.Equal(a.key, ask.Key) {
			ask.By = a.name
		}
	}
}

// own notes whose the next operation of the frame is.
func (d *draft) own(by uint64) {
	if by == 0 {
		return
	}
	if d.owns == nil {
		d.owns = make(map[int]uint64)
	}
	d.owns[d.Len()] = by
}

// superseded ends the attempt of a timer that was set, moved or removed, by the attempt with the name by if that is not
// 0. Its context ends, unless it has done that itself.
func (f *firer) superseded(ref state.Ref, by uint64) {
	a := f.attempts[ref]
	if a == nil {
		return
	}
	f.mu.assertHeld()
	delete(f.attempts, ref)
	if a.name != by {
		a.cancel()
		return
	}
	if f.outdone == nil {
		f.outdone = make(map[string][]*attempt)
	}
	f.outdone[string(a.key)] = append(f.outdone[string(a.key)], a)
}

// changed ends the contexts of the attempts that have changed a key themselves, and whose handlers run still, when
// others change it, too.
func (f *firer) changed(op *frame.Op, by uint64) {
	f.mu.assertHeld()
	switch op.Kind {
	case frame.Set, frame.SetAt, frame.Move, frame.Remove, frame.Import:
		for _, a := range f.outdone[string(op.Key)] {
			if a.name != by {
				a.cancel()
			}
		}
	}
}

// handled forgets an attempt whose handler has returned.
func (f *firer) handled(a *attempt) {
	f.mu.assertHeld()
	all, ok := f.outdone[string(a.key)]
	if !ok {
		return
	}
	all = slices.DeleteFunc(all, func(b *attempt) bool { return a == b })
	if f.outdone[string(a.key)] = all; len(all) == 0 {
		delete(f.outdone, string(a.key))
	}
}
