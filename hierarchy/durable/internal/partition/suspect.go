package partition

import (
	"context"
	"errors"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// suspect finds out which timers may have ended the process. Attempts that were written, and have
// no end, have failed. After a log without Close, what is due now may have been under way.
func (p *Partition) suspect(ctx context.Context, clean bool) error {
	begun := p.state.Begun()
	if err := p.writer.failBegun(ctx, begun); err != nil {
		return err
	}
	if !clean {
		p.firer.review()
	}
	return nil
}

var errEnded = errors.New("the process ended during the attempt")

// failBegun writes that the attempts have failed which were under way when the process ended.
func (w *writer) failBegun(ctx context.Context, begun []state.Ref) error {
	for len(begun) > 0 {
		begun = w.draftFailed(begun)
		b, _ := w.draft.Finish()
		b, err := w.commitSoon(ctx, b)
		if err != nil {
			return err
		}
		if err := w.apply(b, 0); err != nil {
			return err
		}
	}
	return nil
}

// draftFailed makes a frame of as many attempts that have failed as the log takes, and returns the others.
func (w *writer) draftFailed(begun []state.Ref) (rest []state.Ref) {
	w.draft.start(w.head, w.time.now())
	for i, ref := range begun {
		t := w.draft.state.Timer(ref)
		it := item{kind: failed, job: job{ref: ref, id: t.ID, key: []byte(t.Key), attempt: t.Attempt}}
		if w.draft.Len() > 0 && !w.draft.fits(&it) {
			return begun[i:]
		}
		it.wait, it.cause = w.cfg.Backoff(int(t.Attempt)), errEnded
		if w.draft.attempt(&it) {
			w.firer.suspected(ref, t.ID)
			w.cfg.warnOfDeath(&it)
		}
	}
	return nil
}
