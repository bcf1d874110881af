package partition

import (
	"context"
	"errors"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// This file shows how the writer commits a frame: the writer retries the append until the outcome is certain, applies
// the frame, and answers the calls.

// commit appends the frame, and returns how long the append took. If the frame would change nothing, commit does not
// write it.
func (w *writer) commit() (took time.Duration, err error) {
	if w.core.Len() == 0 && w.core.Header().Begin == w.core.Head.Begin {
		w.checkTenure()
		w.waiting = w.doubts.since()
		w.answers(nil)
		return 0, nil
	}
	b, _ := w.core.Finish()
	w.firer.sending()
	if _, ok := w.trims.hasRoomFor(len(b)); !ok {
		w.leaveGate(0)
		w.trims.awaitRoom(len(b))
	}
	begun := time.Now()
	if b, err = w.append(b); err != nil {
		return 0, err
	}
	took = time.Since(begun)
	return took, w.apply(b, took)
}

// checkTenure is called when a batch writes nothing, so that its answers come from the state alone. If the lease has
// ended, the state may be out of date, and the calls get errTenure instead.
func (w *writer) checkTenure() {
	if w.cfg.Tenure() {
		return
	}
	w.batch.answer(errTenure)
	w.batch.calls = w.batch.calls[:0] // the callers reuse these calls for another owner
}

// apply applies a frame that was acknowledged; after is how long the append took.
func (w *writer) apply(b []byte, after time.Duration) error {
	f, err := frame.Parse(b)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.core.Apply(&f); err != nil {
		return err
	}
	w.commits.Add(after)
	w.firer.gone(w.core.Gone)
	for _, f := range w.core.Withdrawn {
		w.cfg.Withdrawn(f)
	}
	w.firer.settled.Broadcast() // the claims have ended
	w.marks.acknowledged(&w.core.Head)
	return nil
}

// settle answers the calls and ends the other items of the batch, now that the frame is in the log.
func (w *writer) settle() {
	b := &w.batch
	if len(b.calls) > 0 && !w.tenure.holds() {
		w.tenure.answerLater(b.calls, w.core.Head.Header, w.waiting)
		b.calls = b.calls[:0]
	}
	if w.firer.virtual { // the alarm is aimed before a caller can move the mock
		w.firer.fire()
	}
	for _, c := range b.calls {
		c.answer(c.Answer(&w.core.Head.Header))
	}
	for i := range b.items {
		if t := &b.items[i]; t.took {
			w.cfg.warnOfDeath(&t.Event)
		}
	}
	w.firer.died(w.core.Deaths)
	w.mu.Lock()
	for i := range b.items {
		w.firer.written(&b.items[i])
	}
	if b.keep && w.core.ShouldDelete() {
		w.trims.deleteLoose()
	}
	w.mu.Unlock()
	if !b.last {
		w.firer.fire()
		w.trims.start()
	}
}

// append appends a frame. Once the frame is known to be in the log, append returns the frame as the log has it.
func (w *writer) append(b []byte) ([]byte, error) {
	patience := w.cfg.Patience
	sent := time.Now()
	w.waiting = w.doubts.since()
	var giveUp *time.Timer
	var doubt error
	settled := false // guarded by doubting
	patience.Doubt = func(err error) {
		if giveUp != nil { // the doubt began before append passed a stranger's message
			return
		}
		doubt = err
		w.trims.makeRoom()
		w.silence.begin()
		w.cfg.Doubted(err)
		w.leaveGate(0) // so that other partitions, whose logs may answer, can append meanwhile
		w.cfg.Logger.Warn("durable: no answer from the log", "partition", w.cfg.Partition, "err", w.cfg.because(err))
		giveUp = time.AfterFunc(w.cfg.GiveUp-time.Since(w.waiting), func() { w.giveUp(&settled, err) })
	}
	b, err := w.commitFrame(w.ctx, patience, b)
	if w.ctx.Err() != nil && err != nil && !isTaken(err) {
		err = w.cfg.cut(doubt)
	}
	if giveUp == nil {
		w.answers(err)
		return b, err
	}
	giveUp.Stop()
	w.settleDoubt(&settled, sent, err)
	return b, err
}

// settleDoubt is called when the outcome of a frame that was in doubt is known, or when the writer ends. If the frame
// is in the log, or is too large for the log, then the log answers again, and further calls are accepted.
func (w *writer) settleDoubt(settled *bool, sent time.Time, err error) {
	w.doubting.Lock()
	defer w.doubting.Unlock()
	*settled = true
	w.answersLate(sent, err)
	if err == nil || errors.Is(err, storage.ErrTooLarge) {
		w.silence.end()
		w.queue.answered()
		w.cfg.Logger.Info("durable: the log answers again", "partition", w.cfg.Partition)
	}
}

// giveUp ends the calls that wait for the log. The frame in flight may still be appended later.
func (w *writer) giveUp(settled *bool, cause error) {
	w.doubting.Lock()
	defer w.doubting.Unlock()
	if *settled { // the answer has come just now
		return
	}
	err := storage.Because(ErrUnavailable, w.cfg.because(cause))
	w.batch.giveUp(err)
	w.queue.unanswered(err)
}

// isTaken reports whether an error of Commit means that the log has another owner.
func isTaken(err error) bool {
	return errors.Is(err, storage.ErrTaken) || errors.Is(err, storage.ErrReplaced)
}

// commitSoon appends a frame before the partition is open. If the log does not answer, commitSoon gives up: whoever
// opens the log later finds out whether the frame is there.
func (w *writer) commitSoon(ctx context.Context, b []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, w.cfg.GiveUp)
	defer cancel()
	patience := w.cfg.Patience
	patience.Doubt = func(err error) {
		w.trims.makeRoom()
		w.cfg.Doubted(err)
	}
	return w.commitFrame(ctx, patience, b)
}

// Whoever may publish to the subject of a log can put messages there that are no frames. DESIGN.md explains why such
// messages are not damage.

// commitFrame appends a frame to the end of the log, and returns the frame as it was appended. If strangers' messages
// came first, its number is higher than that of b.
func (w *writer) commitFrame(ctx context.Context, patience storage.Patience, b []byte) ([]byte, error) {
	patience.Stranger = w.reader.isStranger
	for {
		err := patience.Commit(ctx, w.cfg.Log, w.core.Head.End, b)
		if !errors.Is(err, storage.ErrStranger) {
			return b, err
		}
		w.passStrangers(ctx)
		if b, err = frame.Renumber(b, w.core.Head.End+1); err != nil {
			return nil, err
		}
	}
}

// passStrangers is called when a stranger's message follows the end of the log. It moves the end to the last of the
// strangers' messages in a row. It ignores errors of reading: if the log does not answer, the next append fails, too,
// and callers wait meanwhile.
func (w *writer) passStrangers(ctx context.Context) {
	ctx, cancel := w.cfg.Patience.WithTimeout(ctx)
	defer cancel()
	first := w.core.Head.End + 1
	last := first
	if b, err := w.cfg.Log.Bounds(ctx); err == nil {
		for data, err := range w.cfg.Log.Read(ctx, last+1, b.Last) {
			if err != nil || !w.reader.isStranger(data, last+1) {
				break
			}
			last++
		}
	}
	w.mu.Lock()
	w.core.Head.End = last
	w.mu.Unlock()
	w.reader.warnOfStrangers(first, last-first+1)
}
