package partition

import (
	"fmt"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/storage"
)

// This file shows how trimming writes again the timers and answers that are live in the oldest frames.

// add adds the contents of the portion to the frame, which must be empty. If the frame has room for all of them, add
// raises the begin of the frame and reports true.
func (t *trimmer) add(d *core.Draft, now int64, ops, bytes int) bool {
	t.mu.assertHeld()
	found := t.portion
	if found == nil {
		return false
	}
	most := min(bytes, t.cfg.Log.MaxMessage()/2)
	for len(found.live) > 0 {
		if d.Len() >= ops || d.Size() >= most {
			return false
		}
		if op, ok := t.keep(found.live[0], now); ok {
			if t.tooLarge(&op) || !t.hasRoom(d, keepSize(&op)) {
				return false
			}
			d.Add(&op)
		}
		found.live = found.live[1:]
	}
	d.Header().Begin = found.begin
	return true
}

// keep returns the operation that writes a timer or an answer again. ok is false if the timer or answer was removed, or
// was written again since.
func (t *trimmer) keep(h homed, now int64) (op frame.Op, ok bool) {
	switch {
	case h.ref == 0 && t.state.AnswerHome(h.answer, h.home):
		return t.state.KeepAnswer(h.answer), true
	case h.ref != 0 && t.state.HasHome(h.ref, h.home):
		op, t.room = t.state.Keep(h.ref, now, t.room[:0])
		return op, true
	}
	return op, false
}

// keepSize returns the number of bytes that a timer or an answer takes in the log beside core.OpBytes.
func keepSize(op *frame.Op) int {
	return len(op.Key) + len(op.Value) + len(op.Answers) + frame.MoreSize(op.Schedule, op.Trace, op.Error)
}

// tooLarge reports whether a frame with that timer or answer alone is too large for the log by now. If so, trimming
// pauses.
func (t *trimmer) tooLarge(op *frame.Op) bool {
	bytes := keepSize(op)
	if bytes+core.OpBytes <= t.cfg.Log.MaxMessage()-frame.Overhead {
		return false
	}
	t.portion = nil
	key := string(op.Key) // a copy, since the memory of op is used again for the next operation
	go t.failed(fmt.Errorf("%w: a %v of %q, of %d bytes", storage.ErrTooLarge, op.Kind, key, bytes))
	return true
}

// hasRoom reports whether the frame has room for another operation with that number of bytes. An operation that a frame
// has alone fits, since it was in a frame before.
func (t *trimmer) hasRoom(d *core.Draft, bytes int) bool {
	return d.Len() == 0 || d.Size()+bytes+core.OpBytes <= t.cfg.Log.MaxMessage()
}

// restore puts back what add took from a portion. It is called when the frame was not appended.
func (t *trimmer) restore(taken *portion, whole portion) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if taken != nil && taken == t.portion {
		*taken = whole
	}
}

// kept is called when the log has the frame that raised begin.
func (t *trimmer) kept() {
	t.mu.assertHeld()
	t.advance(t.portion.begin)
	t.portion, t.under = nil, false
	if t.loose >= t.share(deleteBytes) {
		t.deleteLoose()
	}
}

// A frame that can't be read any more while its owner lives is no loss yet: what is live in it is also in memory. So
// the owner writes that again, and the log then begins after the frame.

// unreadTries is the number of failed reads after which a frame is passed over. One failure is not enough, since a
// server may have other reasons not to answer.
const unreadTries = 3

// passes counts a failed read of the frame at the beginning of the log, and reports whether the frame should be passed
// over.
func (t *trimmer) passes(number uint64, err error) bool {
	t.mu.Lock()
	if t.unread != number {
		t.unread, t.tries = number, 0
	}
	t.tries++
	pass := t.tries >= unreadTries && t.writing.Err() == nil
	t.mu.Unlock()
	if pass {
		t.cfg.Logger.Error("durable: a frame can't be read any more; what it had is in memory, and is written again",
			"partition", t.cfg.Partition, "frame", number, "err", err)
	}
	return pass
}

// isOurs reports whether an owner has written the message with that number.
func (t *trimmer) isOurs(number uint64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return number >= t.begin && number-t.begin < uint64(len(t.sizes)) && t.sizes[number-t.begin] > 0
}

// recall adds the timers and answers that, according to the state, are live in a frame that can't be read.
func (t *trimmer) recall(found *portion) {
	t.mu.Lock()
	for _, id := range t.state.AnswersOf(found.begin) {
		found.add(homed{answer: id, home: found.begin})
	}
	t.mu.Unlock()
	scan(t.mu, t.state, func(ref state.Ref, timer state.Timer) {
		if timer.Home == found.begin {
			found.add(homed{ref: ref, home: found.begin})
		}
	}, func() bool { return true })
}
