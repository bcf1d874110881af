package partition

import (
	"errors"
	"fmt"
)

// lose ends all that waits, as nothing is written any more.
func (p *Partition) lose(w *written, rest []item, cause error) {
	err := cause
	p.stopHanding()
	p.mu.Lock()
	if p.markTimer != nil {
		p.markTimer.Stop()
	}
	p.mu.Unlock()
	if errors.Is(cause, ErrClosed) {
		p.markNow()
	} else {
		err = fmt.Errorf("%w: %w", ErrUnavailable, cause)
		p.cfg.Logger.Error("durable: the log is lost", "partition", p.cfg.Partition, "err", cause)
		w.answer(err)
		for i := range w.items {
			p.drop(&w.items[i].item)
		}
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
