package partition

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/journal"
)

// How the writer appends a frame: until it is known whether it is in the log, and behind messages of strangers.

// append appends a frame and returns it as it is in the log, when it is known to be there.
func (w *writer) append(b []byte) ([]byte, error) {
	patience, sent := w.cfg.Patience, time.Now()
	var giveUp *time.Timer
	var doubt error
	settled := false // guarded by doubting
	patience.Doubt = func(err error) {
		if giveUp != nil { // it was in doubt before it passed a stranger's message
			return
		}
		doubt = err
		w.silence.begin()
		w.cfg.Doubted(err)
		w.leaveGate(0) // others have answers, maybe
		w.cfg.Logger.Warn("durable: no answer from the log", "partition", w.cfg.Partition, "err", w.cfg.because(err))
		if w.doubtful.IsZero() {
			w.doubtful = sent
		}
		giveUp = time.AfterFunc(w.cfg.GiveUp-time.Since(w.doubtful), func() { w.giveUp(&settled, err) })
	}
	b, err := w.commitFrame(w.ctx, patience, b)
	if w.ctx.Err() != nil && err != nil && !isTaken(err) {
		err = w.cfg.cut(doubt)
	}
	if giveUp == nil || !w.queue.waits() {
		w.doubtful = time.Time{}
	}
	if giveUp == nil {
		return b, err
	}
	giveUp.Stop()
	w.settleDoubt(&settled, err)
	return b, err
}

// settleDoubt is called when it is known whether a frame that was in doubt is in the log, or the writer ends.
func (w *writer) settleDoubt(settled *bool, err error) {
	w.doubting.Lock()
	defer w.doubting.Unlock()
	if *settled = true; err == nil {
		w.silence.end()
		w.queue.answered()
		w.cfg.Logger.Info("durable: the log answers again", "partition", w.cfg.Partition)
	}
}

// giveUp ends the calls that wait for the log. The frame that is under way can be appended later.
func (w *writer) giveUp(settled *bool, cause error) {
	w.doubting.Lock()
	defer w.doubting.Unlock()
	if *settled { // the answer has come just now
		return
	}
	err := journal.Because(ErrUnavailable, w.cfg.because(cause))
	w.batch.answer(err)
	w.queue.unanswered(err)
}

// isTaken reports whether an error of Commit says that the log has another owner.
func isTaken(err error) bool {
	return errors.Is(err, journal.ErrTaken) || errors.Is(err, journal.ErrReplaced)
}

// silence is since when the frame that is under way has had no clear answer, if that is so.
type silence struct{ at atomic.Pointer[time.Time] }

func (s *silence) begin() {
	now := time.Now()
	s.at.Store(&now)
}

func (s *silence) end() { s.at.Store(nil) }

// any reports whether there is silence.
func (s *silence) any() bool { return s.at.Load() != nil }

// since returns when the silence began, or zero.
func (s *silence) since() (t time.Time) {
	if at := s.at.Load(); at != nil {
		t = *at
	}
	return t
}

// commitSoon appends a frame before the partition is open. A log that does not answer is given up: who
// opens it later finds out whether the frame is there.
func (w *writer) commitSoon(ctx context.Context, b []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, w.cfg.GiveUp)
	defer cancel()
	return w.commitFrame(ctx, w.cfg.Patience, b)
}

// Whoever may publish to the subject of a log can put messages there that are no frames. DESIGN.md says why they are
// no damage.

// commitFrame appends a frame to the end of the log, and returns it as it is there: if a stranger has taken
// its place, it has a later number.
func (w *writer) commitFrame(ctx context.Context, patience journal.Patience, b []byte) ([]byte, error) {
	patience.Stranger = w.reader.isStranger
	for {
		err := patience.Commit(ctx, w.cfg.Log, w.head.end, b)
		if !errors.Is(err, journal.ErrStranger) {
			return b, err
		}
		w.passStrangers(ctx)
		if b, err = frame.Renumber(b, w.head.end+1); err != nil {
			return nil, err
		}
	}
}

// passStrangers is called when a stranger's message follows the end of the log. It goes on to the last of
// those that follow each other. What can't be read now is left to the next append: that finds out whether the log is
// silent, and callers wait meanwhile.
func (w *writer) passStrangers(ctx context.Context) {
	ctx, cancel := w.cfg.Patience.Asking(ctx)
	defer cancel()
	first := w.head.end + 1
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
	w.head.end = last
	w.mu.Unlock()
	w.reader.warnOfStrangers(first, last-first+1)
}
