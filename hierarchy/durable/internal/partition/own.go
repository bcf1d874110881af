package partition

import (
	"bytes"
	"context"
	"slices"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// A handler may set, move or remove the timer that it is called for. That does not end the context of its attempt,
// if the call has that context: else it could not tell its own call from others, and the call would end with the
// error of the context though it took hold.

// attemptKey is the key of the attempt in its context.
type attemptKey struct{}

// attemptOf is the attempt of this partition in whose context a call is made, or nil.
func (p *Partition) attemptOf(ctx context.Context) *attempt {
	a, _ := ctx.Value(attemptKey{}).(*attempt)
	if a == nil || a.owner != p {
		return nil
	}
	return a
}

// own notes that the next operation of the frame is a handler's on its own key.
func (d *draft) own(by *attempt, key []byte) {
	if by == nil || !bytes.Equal(by.key, key) {
		return
	}
	if d.owns == nil {
		d.owns = make(map[int]*attempt)
	}
	d.owns[d.Len()] = by
}

// superseded ends the attempt of a timer that was set, moved or removed. Its context ends, unless it has done that
// itself. mu is held.
func (p *Partition) superseded(by *attempt, a *attempt) {
	delete(p.firing.attempts, a.ref)
	if a != by {
		a.cancel()
		return
	}
	if p.firing.outdone == nil {
		p.firing.outdone = make(map[string][]*attempt)
	}
	p.firing.outdone[string(a.key)] = append(p.firing.outdone[string(a.key)], a)
}

// changed ends the contexts of the attempts that have changed a key themselves, and whose handlers run still, when
// others change it, too. mu is held.
func (p *Partition) changed(op *frame.Op, by *attempt) {
	switch op.Kind {
	case frame.Set, frame.SetAt, frame.Move, frame.Remove:
		for _, a := range p.firing.outdone[string(op.Key)] {
			if a != by {
				a.cancel()
			}
		}
	}
}

// handled forgets an attempt whose handler has returned. mu is held.
func (p *Partition) handled(a *attempt) {
	all, ok := p.firing.outdone[string(a.key)]
	if !ok {
		return
	}
	all = slices.DeleteFunc(all, func(b *attempt) bool { return a == b })
	if p.firing.outdone[string(a.key)] = all; len(all) == 0 {
		delete(p.firing.outdone, string(a.key))
	}
}
