package partition

import (
	"errors"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/journal"
)

// written is what one frame holds, for the answers.
type written struct {
	calls []*Call
	items []taken
	last  bool // nothing follows
	keep  bool // the frame has all of a portion that trimming wants to keep
	// portion is what trimming wants to keep, if anything, and whole that before the frame took some of it.
	portion *portion
	whole   portion
}

// answer ends all calls with an error.
func (w *written) answer(err error) {
	for _, c := range w.calls {
		c.answer(err)
	}
}

// taken is an item that is no call.
type taken struct {
	item
	took bool
}

// write is the writer: one goroutine, which makes frames of the queue until a closed item.
func (p *Partition) write() {
	defer close(p.stopped)
	var items, rest []item
	var w written
	for !w.last {
		if len(rest) == 0 && !p.awaitItems() {
			break
		}
		p.trims.awaitPortion()
		p.enterGate(len(rest))
		if len(rest) == 0 {
			items = p.queue.take(items)
			rest = items
		}
		rest = p.compose(&w, rest)
		p.queue.leave(rest)
		took, err := p.commit(&w)
		p.leaveGate(took)
		if errors.Is(err, journal.ErrTooLarge) {
			if again, ok := p.smaller(&w, rest); ok {
				rest = again
				continue
			}
		}
		if err != nil {
			p.lose(&w, rest, err)
			return
		}
		p.settle(&w)
	}
	p.lose(&w, rest, ErrClosed)
}

// awaitItems waits until there is something to write. It is false if the writer has to stop.
func (p *Partition) awaitItems() bool {
	for !p.queue.any() && !p.trims.ready() {
		select {
		case <-p.queue.signal:
		case <-p.writing.Done():
		}
		if p.writing.Err() != nil {
			return false
		}
	}
	return true
}

// compose makes a frame of the first of the items, and returns the others.
func (p *Partition) compose(w *written, items []item) []item {
	*w = written{calls: w.calls[:0], items: w.items[:0]}
	d := &p.draft
	p.mu.Lock()
	defer p.mu.Unlock()
	if w.portion = p.trims.portion; w.portion != nil {
		w.whole = *w.portion
	}
	d.start(p.head, p.time.now())
	switch {
	case p.keepsAlone(items):
		if w.keep = p.trims.add(d, MaxOps, frameBytes); w.keep || d.Len() > 0 {
			return items
		}
	case !p.large(items):
		w.keep = p.trims.add(d, keepOps, keepBytes)
	}
	for i := range items {
		it := &items[i]
		if d.Len() > 0 && !p.fits(it) {
			return items[i:]
		}
		switch it.kind {
		case asked:
			p.addCall(w, it.call)
		case barrier:
			w.items = append(w.items, taken{*it, false})
		case closed:
			d.Add(&frame.Op{Kind: frame.Close})
			w.last = true
			return items[i+1:]
		default:
			w.items = append(w.items, taken{*it, d.attempt(it, &p.cfg)})
		}
	}
	return nil
}

// large tells whether the first item is a call that might never find room beside what trimming
// writes again.
func (p *Partition) large(items []item) bool {
	return len(items) > 0 && items[0].kind == asked && items[0].call.size >= frameBytes/2
}

// keepsAlone tells whether callers wait for what trimming writes again. They have every second frame
// at least.
func (p *Partition) keepsAlone(items []item) bool {
	p.trimsTurn = !p.trimsTurn && (p.large(items) || p.trims.hurried())
	return p.trimsTurn
}

// fits tells whether the frame has room for another item. The largest call has an answer besides.
func (p *Partition) fits(it *item) bool {
	n, size := 1, len(it.job.key)+opBytes
	if it.kind == asked {
		n, size = p.draft.answerRoom(it.call)
		n, size = n+len(it.call.Asks), size+it.call.size
	}
	return p.draft.Len()+n <= MaxOps+1+keepOps && p.draft.Size()+size <= min(frameBytes, p.cfg.Log.MaxMessage())
}

func (p *Partition) addCall(w *written, c *Call) {
	if c.answered.Load() { // it was given up
		return
	}
	if c.Request.named() {
		p.addNamed(w, c)
		return
	}
	var ok bool
	if c.Values, ok = p.draft.ask(c.Asks, c.Took, p.cfg.MaxPending, c.Values[:0]); !ok {
		c.answer(ErrFull) // nothing is written for it
		return
	}
	w.calls = append(w.calls, c)
}

// commit appends the frame, if it has anything, and returns how long that took. Nothing is written for
// what takes no hold.
func (p *Partition) commit(w *written) (took time.Duration, err error) {
	d := &p.draft
	if d.Len() == 0 && d.Header().Begin == p.head.Begin {
		p.checkTenure(w)
		p.doubtful = time.Time{}
		return 0, nil
	}
	b, _ := d.Finish()
	begun := time.Now()
	if b, err = p.append(w, b); err != nil {
		return 0, err
	}
	took = time.Since(begun)
	return took, p.apply(b, took)
}

// checkTenure is for answers that are read from the state alone. An owner whose lease has ended
// does not know whether they are true.
func (p *Partition) checkTenure(w *written) {
	if p.cfg.Tenure() {
		return
	}
	w.answer(errTenure)
	w.calls = w.calls[:0] // their callers use them again, for another owner
}

// apply applies a frame that was acknowledged, after some time.
func (p *Partition) apply(b []byte, after time.Duration) error {
	f, err := frame.Parse(b)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	at := 0
	for op, err := range f.Ops() {
		if err != nil {
			return err
		}
		p.applying = p.draft.owns[at]
		at++
		if err := p.state.Apply(&f.Header, op); err != nil {
			return err
		}
		p.firer.changed(op, p.applying)
		p.count(op.Kind)
	}
	p.state.Forget(f.Time)
	p.head = head{f.Header, f.Checksum, f.Number}
	p.counts.Frames++
	p.commits.Add(after)
	p.counts.Bytes += uint64(len(b))
	p.trims.appended(f.Number, len(b))
	p.marks.acknowledged(&p.head)
	return nil
}

// settle answers those whose operations are in the log.
func (p *Partition) settle(w *written) {
	if len(w.calls) > 0 && !p.tenure.holds() {
		p.tenure.answerLater(w.calls)
		w.calls = w.calls[:0]
	}
	if p.firer.virtual { // the alarm is aimed before a caller can move the mock
		p.firer.fire()
	}
	for _, c := range w.calls {
		c.answer(c.result)
	}
	for i := range w.items {
		if t := &w.items[i]; t.took {
			p.tellDeath(&t.item)
		}
	}
	p.mu.Lock()
	for i := range w.items {
		p.firer.written(&w.items[i])
	}
	if w.keep {
		p.trims.kept()
	}
	p.mu.Unlock()
	if !w.last {
		p.firer.fire()
		p.trims.start(p.head.Number)
	}
}
