package partition

import (
	"context"
	"errors"
	"runtime"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// writer makes frames of what is in its queue, appends them to the log, and answers the calls. Its goroutine runs
// write. Before that begins, while the partition is being opened, the opening goroutine uses the writer.
type writer struct {
	*shared
	reader *reader
	marks  *marks
	trims  *trimmer
	firer  *firer
	tenure *tenure

	queue   queue
	silence silence
	ctx     context.Context // ends when the writer has to stop
	abandon context.CancelFunc
	stopped chan struct{} // closed when the writer has ended
	left    error         // the error if the writer was abandoned too early; set before stopped is closed

	commits hierarchy.Histogram // guarded by mu

	doubting mutex // held by giveUp and settleDoubt: no call is given up once the outcome is known

	// Only the writer's goroutine uses the fields below.
	batch     batch
	waiter    *waiter
	entered   bool      // whether the writer has a place of the Gate
	trimsTurn bool      // the last frame had only timers and answers that trimming writes again
	waiting   time.Time // the time since which the calls of the last frame have waited
	doubts    doubts
}

// batch holds the items of one frame, which are needed for the answers.
type batch struct {
	calls []*Pending
	items []taken
	last  bool // no frame follows
	keep  bool // the frame holds a complete portion of what trimming writes again
}

// taken is an item other than a call; took reports whether it is in the frame.
type taken struct {
	item
	took bool
}

// answer ends all calls with an error.
func (b *batch) answer(err error) {
	for _, c := range b.calls {
		c.answer(err)
	}
}

// giveUp ends all calls with an error, and releases barriers. The other items wait until the log answers.
func (b *batch) giveUp(err error) {
	b.answer(err)
	for i := range b.items {
		if it := &b.items[i]; it.kind == barrier {
			it.done.Set()
		}
	}
}

// write makes frames of the items in the queue until it gets an item of the kind closed.
func (w *writer) write() {
	defer close(w.stopped)
	var items, rest []item
	for !w.batch.last {
		if len(rest) == 0 && !w.awaitItems() {
			break
		}
		w.firer.sending()
		w.trims.awaitPortion()
		w.enterGate(len(rest))
		if len(rest) == 0 {
			items = w.queue.take(items)
			rest = items
		}
		rest = w.compose(rest)
		w.queue.leave(rest)
		took, err := w.commit()
		w.firer.sent()
		w.leaveGate(took)
		if errors.Is(err, storage.ErrTooLarge) {
			if again, ok := w.smaller(rest); ok {
				rest = again
				continue
			}
		}
		if err != nil {
			w.lose(rest, err)
			return
		}
		w.settle()
	}
	w.lose(rest, core.ErrClosed)
}

// awaitItems waits until there is something to write. It reports false if the writer has to stop.
func (w *writer) awaitItems() bool {
	for !w.queue.any() && !w.trims.ready() {
		select {
		case <-w.queue.signal:
		case <-w.ctx.Done():
		}
		if w.ctx.Err() != nil {
			return false
		}
	}
	return true
}

// enterGate waits for a place of the Gate.
func (w *writer) enterGate(rest int) {
	if w.entered = w.cfg.Gate.enter(w.waiter, rest); w.entered {
		// Callers that were just answered run first, so that their next operations are in this frame, too.
		runtime.Gosched()
	}
}

// leaveGate releases the writer's place of the Gate, if it has one.
func (w *writer) leaveGate(took time.Duration) {
	if w.entered {
		w.cfg.Gate.leave(took)
		w.entered = false
	}
}

// compose makes a frame of the first items, and returns the items that did not fit.
func (w *writer) compose(items []item) []item {
	w.batch = batch{calls: w.batch.calls[:0], items: w.batch.items[:0]}
	b := &w.batch
	w.mu.Lock()
	defer w.mu.Unlock()
	w.firer.settled.Broadcast() // the claims of the last frame have ended
	w.startFrame()
	switch {
	case w.keepsAlone(items):
		if b.keep = w.trims.add(true); b.keep || w.core.Len() > 0 {
			return items
		}
	case !w.large(items):
		b.keep = w.trims.add(false)
	}
	for i := range items {
		it := &items[i]
		if w.core.Len() > 0 && !w.core.HasRoomFor(it.request(), &it.Event) {
			return items[i:]
		}
		switch it.kind {
		case called:
			w.add(it.call)
		case barrier:
			b.items = append(b.items, taken{*it, false})
		case closed:
			w.core.Add(&frame.Op{Kind: frame.Close})
			b.last = true
			return items[i+1:]
		default:
			b.items = append(b.items, taken{*it, w.core.Record(&it.Event)})
		}
	}
	return nil
}

// startFrame begins the frame that follows the last one of the log.
func (w *writer) startFrame() {
	now, wall := w.time.both()
	w.core.Start(now, wall, core.Limits{Message: w.cfg.Log.MaxMessage(), Log: w.reader.most.Load()})
}

// large reports whether the first item is a call that might never fit into a frame that also holds what trimming writes
// again.
func (w *writer) large(items []item) bool {
	return len(items) > 0 && items[0].kind == called && w.core.IsLarge(items[0].call.Call)
}

// keepsAlone reports whether the next frame should hold only timers and answers that trimming writes again, even if
// callers wait. While callers wait, at least every second frame holds their calls, unless the size of the log is limited:
// then they may wait until it is trimmed.
func (w *writer) keepsAlone(items []item) bool {
	w.trimsTurn = !w.trimsTurn && (w.large(items) || w.core.Hurried())
	return w.trimsTurn
}

// add adds a call to the frame. If the call can't be added, add answers it at once, since nothing is written for it.
func (w *writer) add(c *Pending) {
	if c.answered.Load() { // the call was given up
		return
	}
	if err := w.core.Call(c.Call); err != nil {
		c.answer(err)
		return
	}
	w.batch.calls = append(w.batch.calls, c)
}
