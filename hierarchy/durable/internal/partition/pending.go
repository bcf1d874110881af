package partition

import (
	"bytes"
	"context"
	"sync"
	"sync/atomic"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// Pending is a call that waits for its answer. The call belongs to the partition until Wait returns. After
// ErrUnavailable or an error of the context it must not be used again, as the writer may still read it.
type Pending struct {
	*core.Call
	err      error
	answered atomic.Bool
	done     chan struct{} // of capacity 1
	room     *sync.Pool    // for use by another call, once this one was answered
}

// newPending returns a Pending for c, which may be one of those in room.
func newPending(c *core.Call, room *sync.Pool) *Pending {
	p, ok := room.Get().(*Pending)
	if !ok {
		p = &Pending{done: make(chan struct{}, 1), room: room}
	}
	p.Call, p.err = c, nil
	p.answered.Store(false)
	return p
}

// Do commits the operations of c, and waits until they are in the log, or until ctx is done. After ErrUnavailable or
// the error of the context, the operations may or may not be committed. After other errors they are not committed.
// After ErrNotOwner the call can be retried with the partition's owner.
func (p *Partition) Do(ctx context.Context, c *core.Call) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	MarkOwn(ctx, c)
	started, err := p.Start(c)
	if err == nil {
		err = started.Wait(ctx)
	}
	return err
}

// Start is the first half of Do: it queues c and does not wait. Unless it returns an error, Wait must follow.
func (p *Partition) Start(c *core.Call) (*Pending, error) {
	c.Begin(&p.cfg.Config, p.time.now(), p.time.wall())
	// Whether a request is too large is decided by Owner.Call, as the log may have a copy of it, or one is on its way there,
	// since when the log may have come to take less.
	if err := p.cfg.checkSize(c); err != nil && c.Request == (core.RequestID{}) {
		return nil, err
	}
	if !p.cfg.Tenure() {
		return nil, errTenure
	}
	t := newPending(c, &p.pendings)
	return t, p.writer.queue.put(item{kind: called, call: t})
}

// checkSize returns ErrTooLarge for a call that does not fit in a frame.
func (cfg *Config) checkSize(c *core.Call) error {
	return core.CheckSize(len(c.Ops), c.Size(), cfg.Log.MaxMessage()-frame.Overhead)
}

// Wait waits for the answer, or until ctx is done. Its errors are those of Do. It must be called once.
func (p *Pending) Wait(ctx context.Context) error {
	select {
	case <-p.done:
	case <-ctx.Done():
		if p.answered.CompareAndSwap(false, true) {
			return ctx.Err() // the writer leaves the call out, unless it has already put it into a frame
		}
		<-p.done // the answer is being given
	}
	if p.err != nil {
		return p.err
	}
	p.Call = nil
	p.room.Put(p)
	return nil
}

// answer ends the call. Only the first answer counts.
func (p *Pending) answer(err error) {
	if p.answered.CompareAndSwap(false, true) {
		p.err = err
		p.done <- struct{}{}
	}
}

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
