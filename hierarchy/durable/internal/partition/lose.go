package partition

import (
	"context"
	"errors"
	"fmt"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// This file shows what the writer does with a frame that was not appended.

// smaller handles a frame that is too large for the log, because the log takes less than it did when the calls began.
// It ends the calls that are too large by themselves. It returns the other items, followed by rest, to be written in
// smaller frames. The timers that trimming had put into the frame are written again later. ok is false if smaller
// frames do not help.
func (w *writer) smaller(rest []item) (again []item, ok bool) {
	b := &w.batch
	w.mu.Lock()
	w.core.Restore()
	w.firer.settled.Broadcast()
	w.mu.Unlock()
	for _, c := range b.calls {
		if err := w.cfg.checkSize(c.Call); err != nil && !c.InLog() {
			c.answer(err)
			ok = true
			continue
		}
		again = append(again, item{kind: called, call: c})
	}
	for i := range b.items {
		again = append(again, b.items[i].item)
	}
	if ok = ok || w.core.Len() > 1 && w.core.Size() > w.cfg.Log.MaxMessage(); !ok {
		return rest, false
	}
	if b.last {
		again = append(again, item{kind: closed})
		b.last = false
	}
	return append(again, rest...), true
}

// errCut is the error of calls without an answer when Shutdown stopped waiting.
var errCut = errors.New("it was closed before the log answered")

// cut returns the error of a frame that was in doubt when the writer was abandoned. doubt is the first error of its
// append, or nil. An error of the writer's own context is left out, since it means nothing to callers.
func (cfg *Config) cut(doubt error) error {
	err := errCut
	if doubt != nil && !errors.Is(doubt, context.Canceled) {
		err = fmt.Errorf("%w: %w", errCut, doubt)
	}
	return cfg.because(err)
}

// lose ends everything that waits, since nothing is written any more.
func (w *writer) lose(rest []item, cause error) {
	w.firer.halt()
	defer w.tenure.lose()
	leftMark := w.marks.stop()
	if !errors.Is(cause, core.ErrClosed) {
		w.loseFrame(rest, cause)
		return
	}
	if !leftMark {
		w.left = w.marks.writeAtEnd()
	}
	err := w.queue.why()
	w.refuse(append(rest, w.queue.end(err)...), err)
}

// loseFrame ends the frame in flight, and everything that waits. It ends the queue first, so that a caller whose call
// was lost can't read the state of this owner afterwards.
func (w *writer) loseFrame(rest []item, cause error) {
	sent, unsent := w.lossOf(cause)
	if errors.Is(cause, errCut) {
		w.left = sent
	}
	rest = append(rest, w.queue.end(unsent)...)
	w.cfg.Logger.Error("durable: the log is lost", "partition", w.cfg.Partition, "err", cause)
	w.batch.answer(sent)
	for i := range w.batch.items {
		w.drop(&w.batch.items[i].item)
	}
	w.refuse(rest, unsent)
}

// lossOf returns two errors: sent for the calls in the frame that was sent, and unsent for the calls that were not sent
// and so are certainly not in the log.
func (w *writer) lossOf(cause error) (sent, unsent error) {
	kind := ErrUnavailable
	if errors.Is(cause, storage.ErrTaken) {
		kind = ErrNotOwner // the frame is not in the log
	}
	sent = storage.Because(kind, cause)
	switch {
	case errors.Is(cause, errCut):
		return sent, storage.Because(w.queue.why(), cause)
	case errors.Is(cause, storage.ErrReplaced):
		return sent, storage.Because(ErrNotOwner, cause)
	}
	return sent, sent
}

// refuse ends items that are not written any more.
func (w *writer) refuse(items []item, err error) {
	for _, it := range items {
		w.drop(&it)
		if it.kind == called {
			it.call.answer(err)
		}
	}
}

// drop ends an item that is not written any more.
func (w *writer) drop(it *item) {
	if !it.IsBegin() {
		it.end(false)
		return
	}
	w.mu.Lock()
	w.firer.notBegun(it.Job, it.done)
	w.mu.Unlock()
}
