package partition

import (
	"context"
	"errors"
	"fmt"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/journal"
)

// errCut is why there is no answer if Shutdown did not wait for it any longer.
var errCut = errors.New("it was closed before the log answered")

// cut is the error of a frame that is in doubt when the writer is abandoned. doubt is how that
// began. The end of the writer's context is nothing that callers know.
func (p *Partition) cut(doubt error) error {
	err := errCut
	if doubt != nil && !errors.Is(doubt, context.Canceled) {
		err = fmt.Errorf("%w: %w", errCut, doubt)
	}
	return p.because(err)
}

// lose ends all that waits, as nothing is written any more.
func (p *Partition) lose(w *written, rest []item, cause error) {
	err := cause
	p.stopHanding()
	p.mu.Lock()
	if p.markTimer != nil {
		p.markTimer.Stop()
	}
	markless := p.markless
	p.mu.Unlock()
	if errors.Is(cause, ErrClosed) {
		if !markless {
			p.left = p.markAtEnd()
		}
	} else {
		kind := ErrUnavailable
		if errors.Is(cause, journal.ErrTaken) {
			kind = ErrNotOwner // the frame did not take hold
		}
		err = fmt.Errorf("%w: %w", kind, cause)
		p.cfg.Logger.Error("durable: the log is lost", "partition", p.cfg.Partition, "err", cause)
		w.answer(err)
		for i := range w.items {
			p.drop(&w.items[i].item)
		}
	}
	switch { // what was not sent did not take hold
	case errors.Is(cause, errCut):
		p.left, err = err, fmt.Errorf("%w: %w", p.queue.why(), cause)
	case errors.Is(cause, journal.ErrReplaced):
		err = fmt.Errorf("%w: %w", ErrNotOwner, cause)
	case errors.Is(cause, ErrClosed):
		err = p.queue.why()
	}
	for _, it := range append(rest, p.queue.end(err)...) {
		p.drop(&it)
		if it.kind == asked {
			it.call.answer(err)
		}
	}
}

// drop ends an item that is not written any more.
func (p *Partition) drop(it *item) {
	it.drop()
	if it.kind == begun && it.done == nil {
		p.mu.Lock()
		p.inactive()
		p.freePlace()
		p.mu.Unlock()
	}
}
