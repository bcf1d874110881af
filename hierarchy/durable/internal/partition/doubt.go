package partition

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/journal"
)

// append appends a frame and returns it as it is in the log, when it is known to be there.
func (p *Partition) append(w *written, b []byte) ([]byte, error) {
	patience, sent := p.cfg.Patience, time.Now()
	var giveUp *time.Timer
	var doubt error
	settled := false // guarded by doubting
	patience.Doubt = func(err error) {
		if giveUp != nil { // it had doubts before it passed a stranger's message
			return
		}
		doubt = err
		p.silence.begin()
		p.cfg.Doubted(err)
		p.leaveGate(0) // others have answers, maybe
		p.cfg.Logger.Warn("durable: no answer from the log", "partition", p.cfg.Partition, "err", p.cfg.because(err))
		if p.doubtful.IsZero() {
			p.doubtful = sent
		}
		giveUp = time.AfterFunc(p.cfg.GiveUp-time.Since(p.doubtful), func() { p.giveUp(w, &settled, err) })
	}
	b, err := p.commitFrame(p.writing, patience, b)
	if p.writing.Err() != nil && err != nil && !isTaken(err) {
		err = p.cut(doubt)
	}
	if giveUp == nil || !p.queue.waits() {
		p.doubtful = time.Time{}
	}
	if giveUp == nil {
		return b, err
	}
	giveUp.Stop()
	p.settleDoubt(&settled, err)
	return b, err
}

// Silent is since when a frame has been without a clear answer, or zero.
func (p *Partition) Silent() (since time.Time) { return p.silence.since() }

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

// settleDoubt is called when it is known what became of a frame that was in doubt, or the writer ends.
func (p *Partition) settleDoubt(settled *bool, err error) {
	p.doubting.Lock()
	defer p.doubting.Unlock()
	if *settled = true; err == nil {
		p.silence.end()
		p.queue.answered()
		p.cfg.Logger.Info("durable: the log answers again", "partition", p.cfg.Partition)
	}
}

// isTaken tells whether an error of Commit says that the log has another owner.
func isTaken(err error) bool {
	return errors.Is(err, journal.ErrTaken) || errors.Is(err, journal.ErrReplaced)
}

// waits tells whether calls may be waiting that are not in the frame under way, and were not given up.
func (q *queue) waits() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.doubt == nil && len(q.rest)+len(q.items) > 0
}

// giveUp ends the calls that wait for the log. The frame that is under way can take hold later.
func (p *Partition) giveUp(w *written, settled *bool, cause error) {
	p.doubting.Lock()
	defer p.doubting.Unlock()
	if *settled { // the answer has come just now
		return
	}
	err := journal.Because(ErrUnavailable, p.cfg.because(cause))
	w.answer(err)
	p.queue.unanswered(err)
}
