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
	return p.cfg.because(err)
}

// lose ends all that waits, as nothing is written any more.
func (p *Partition) lose(w *written, rest []item, cause error) {
	p.firer.halt()
	defer p.tenure.lose()
	leftMark := p.marks.stop()
	if !errors.Is(cause, ErrClosed) {
		p.loseFrame(w, rest, cause)
		return
	}
	if !leftMark {
		p.left = p.marks.writeAtEnd()
	}
	err := p.queue.why()
	p.refuse(append(rest, p.queue.end(err)...), err)
}

// loseFrame ends the frame that was under way, and all that waits. The queue ends first: who has got the
// answer that the log is lost must not read what it held.
func (p *Partition) loseFrame(w *written, rest []item, cause error) {
	sent, unsent := p.lossOf(cause)
	if errors.Is(cause, errCut) {
		p.left = sent
	}
	rest = append(rest, p.queue.end(unsent)...)
	p.cfg.Logger.Error("durable: the log is lost", "partition", p.cfg.Partition, "err", cause)
	w.answer(sent)
	for i := range w.items {
		p.drop(&w.items[i].item)
	}
	p.refuse(rest, unsent)
}

// lossOf is what the calls in the frame are answered, and those that were not sent, which did not take hold.
func (p *Partition) lossOf(cause error) (sent, unsent error) {
	kind := ErrUnavailable
	if errors.Is(cause, journal.ErrTaken) {
		kind = ErrNotOwner // the frame did not take hold
	}
	sent = journal.Because(kind, cause)
	switch {
	case errors.Is(cause, errCut):
		return sent, journal.Because(p.queue.why(), cause)
	case errors.Is(cause, journal.ErrReplaced):
		return sent, journal.Because(ErrNotOwner, cause)
	}
	return sent, sent
}

// refuse ends items that are not written any more.
func (p *Partition) refuse(items []item, err error) {
	for _, it := range items {
		p.drop(&it)
		if it.kind == asked {
			it.call.answer(err)
		}
	}
}

// drop ends an item that is not written any more.
func (p *Partition) drop(it *item) {
	if it.kind != begun {
		it.job.release()
		return
	}
	p.mu.Lock()
	p.firer.notBegun(it.job)
	p.mu.Unlock()
}
