package partition

import (
	"context"
	"errors"
	"runtime"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/journal"
)

// writer makes frames of what is in its queue, appends them to the log, and answers. It is one goroutine, that of write.
// While the partition is being opened, before that begins, the opening goroutine uses it.
type writer struct {
	cfg    *Config
	reader *reader
	marks  *marks
	trims  *trimmer
	firer  *firer
	tenure *tenure
	time   *ownTime

	queue   queue
	silence silence
	ctx     context.Context // ends when the writer has to stop
	abandon context.CancelFunc
	stopped chan struct{} // closed when the writer has ended
	left    error         // what it could not do as it was abandoned; written before stopped is closed

	mu      *mutex // Partition.mu. The writer alone changes what follows. It needs mu for that, and not to read it
	head    head
	counts  Counts
	commits hierarchy.Histogram

	doubting mutex // held where calls are given up, and where that ends

	// What only its goroutine uses.
	draft     draft
	batch     batch
	turn      *turn
	entered   bool      // it has a place of the Gate
	applying  uint64    // Ask.By of the operation that is being applied
	trimsTurn bool      // the last frame had only what trimming writes again
	doubtful  time.Time // since when calls have been waiting for clear answers, if they do
}

// head is where the log ends.
type head struct {
	frame.Header        // of the last frame
	checksum     uint32 // of it
	end          uint64 // the number of the last message. Strangers' messages may follow the frame
}

// batch is what one frame holds, for the answers.
type batch struct {
	calls []*Call
	items []taken
	last  bool // nothing follows
	keep  bool // the frame has all of a portion that trimming wants to keep
	// portion is what trimming wants to keep, if anything, and whole that before the frame took some of it.
	portion *portion
	whole   portion
}

// taken is an item that is no call.
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

// write makes frames of the queue until a closed item.
func (w *writer) write() {
	defer close(w.stopped)
	var items, rest []item
	for !w.batch.last {
		if len(rest) == 0 && !w.awaitItems() {
			break
		}
		w.trims.awaitPortion()
		w.enterGate(len(rest))
		if len(rest) == 0 {
			items = w.queue.take(items)
			rest = items
		}
		rest = w.compose(rest)
		w.queue.leave(rest)
		took, err := w.commit()
		w.leaveGate(took)
		if errors.Is(err, journal.ErrTooLarge) {
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
	w.lose(rest, ErrClosed)
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

// enterGate waits for a place for the writer.
func (w *writer) enterGate(rest int) {
	if w.entered = w.cfg.Gate.enter(w.turn, rest); w.entered {
		// Callers that were answered just now come back with their next operations first.
		runtime.Gosched()
	}
}

// leaveGate gives the writer's place back, if it has one.
func (w *writer) leaveGate(took time.Duration) {
	if w.entered {
		w.cfg.Gate.leave(took)
		w.entered = false
	}
}

// compose makes a frame of the first of the items, and returns the others.
func (w *writer) compose(items []item) []item {
	w.batch = batch{calls: w.batch.calls[:0], items: w.batch.items[:0]}
	b, d := &w.batch, &w.draft
	w.mu.Lock()
	defer w.mu.Unlock()
	if b.portion = w.trims.portion; b.portion != nil {
		b.whole = *b.portion
	}
	d.start(w.head, w.time.now())
	switch {
	case w.keepsAlone(items):
		if b.keep = w.trims.add(d, MaxOps, frameBytes); b.keep || d.Len() > 0 {
			return items
		}
	case !large(items):
		b.keep = w.trims.add(d, keepOps, keepBytes)
	}
	for i := range items {
		it := &items[i]
		if d.Len() > 0 && !d.fits(it) {
			return items[i:]
		}
		switch it.kind {
		case asked:
			w.add(it.call)
		case barrier:
			b.items = append(b.items, taken{*it, false})
		case closed:
			d.Add(&frame.Op{Kind: frame.Close})
			b.last = true
			return items[i+1:]
		default:
			b.items = append(b.items, taken{*it, d.attempt(it)})
		}
	}
	return nil
}

// large reports whether the first item is a call that might never find room beside what trimming
// writes again.
func large(items []item) bool {
	return len(items) > 0 && items[0].kind == asked && items[0].call.size >= frameBytes/2
}

// keepsAlone reports whether callers wait for what trimming writes again. They have every second frame
// at least.
func (w *writer) keepsAlone(items []item) bool {
	w.trimsTurn = !w.trimsTurn && (large(items) || w.trims.hurried())
	return w.trimsTurn
}

// add adds a call to the frame, or answers it: for that nothing is written.
func (w *writer) add(c *Call) {
	if c.answered.Load() { // it was given up
		return
	}
	if err := w.draft.call(c); err != nil {
		c.answer(err)
		return
	}
	w.batch.calls = append(w.batch.calls, c)
}

// commit appends the frame, if it has anything, and returns how long that took. Nothing is written for
// calls that change nothing.
func (w *writer) commit() (took time.Duration, err error) {
	d := &w.draft
	if d.Len() == 0 && d.Header().Begin == w.head.Begin {
		w.checkTenure()
		w.doubtful = time.Time{}
		return 0, nil
	}
	b, _ := d.Finish()
	begun := time.Now()
	if b, err = w.append(b); err != nil {
		return 0, err
	}
	took = time.Since(begun)
	return took, w.apply(b, took)
}

// checkTenure is for answers that are read from the state alone. An owner whose lease has ended
// does not know whether they are true.
func (w *writer) checkTenure() {
	if w.cfg.Tenure() {
		return
	}
	w.batch.answer(errTenure)
	w.batch.calls = w.batch.calls[:0] // their callers use them again, for another owner
}

// apply applies a frame that was acknowledged, after some time.
func (w *writer) apply(b []byte, after time.Duration) error {
	f, err := frame.Parse(b)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	at := 0
	for op, err := range f.Ops() {
		if err != nil {
			return err
		}
		w.applying = w.draft.owns[at]
		at++
		if err := w.draft.state.Apply(&f.Header, op); err != nil {
			return err
		}
		w.firer.changed(op, w.applying)
		w.counts.add(op.Kind)
	}
	w.draft.state.Forget(f.Time)
	w.head = head{f.Header, f.Checksum, f.Number}
	w.counts.Frames++
	w.commits.Add(after)
	w.counts.Bytes += uint64(len(b))
	w.trims.appended(f.Number, len(b))
	w.marks.acknowledged(&w.head)
	return nil
}

// settle answers those whose operations are in the log.
func (w *writer) settle() {
	b := &w.batch
	if len(b.calls) > 0 && !w.tenure.holds() {
		w.tenure.answerLater(b.calls)
		b.calls = b.calls[:0]
	}
	if w.firer.virtual { // the alarm is aimed before a caller can move the mock
		w.firer.fire()
	}
	for _, c := range b.calls {
		c.answer(c.result)
	}
	for i := range b.items {
		if t := &b.items[i]; t.took {
			w.cfg.warnOfDeath(&t.item)
		}
	}
	w.mu.Lock()
	for i := range b.items {
		w.firer.written(&b.items[i])
	}
	if b.keep {
		w.trims.kept()
	}
	w.mu.Unlock()
	if !b.last {
		w.firer.fire()
		w.trims.start(w.head.Number)
	}
}
