package partition

import (
	"fmt"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/journal"
)

// How trimming writes again what is live in the oldest frames, and deletes these.

// add adds timers of the portion to the frame, which must be empty, and raises its begin when
// all are there. It is true then. mu is held.
func (t *trimmer) add(d *draft, ops, bytes int) bool {
	found := t.portion
	if found == nil {
		return false
	}
	most := min(bytes, t.cfg.Log.MaxMessage()/2)
	for len(found.timers) > 0 {
		if d.Len() >= ops || d.Size() >= most {
			return false
		}
		if h := found.timers[0]; t.state.HasHome(h.ref, h.home) {
			var op frame.Op
			op, t.room = t.state.Keep(h.ref, d.now, t.room[:0])
			if t.tooLarge(&op) || !t.hasRoom(d, len(op.Key)+len(op.Value)) {
				return false
			}
			d.Add(&op)
		}
		found.timers = found.timers[1:]
	}
	for len(found.requests) > 0 {
		if d.Len() >= ops || d.Size() >= most {
			return false
		}
		if r := found.requests[0]; t.state.AnswerHome(r.id, r.home) {
			op := t.state.KeepAnswer(r.id)
			if t.tooLarge(&op) || !t.hasRoom(d, len(op.Answers)) {
				return false
			}
			d.Add(&op)
		}
		found.requests = found.requests[1:]
	}
	d.Header().Begin = found.begin
	return true
}

// tooLarge reports whether the log takes no frame with that timer, or that answer, any more. Trimming ends then, for a
// while.
func (t *trimmer) tooLarge(op *frame.Op) bool {
	bytes := len(op.Key) + len(op.Value) + len(op.Answers)
	if bytes+opBytes <= t.cfg.Log.MaxMessage()-frame.Overhead {
		return false
	}
	t.portion = nil
	key := string(op.Key) // op has the memory of the next one, too
	go t.failed(fmt.Errorf("%w: a %v of %q, of %d bytes", journal.ErrTooLarge, op.Kind, key, bytes))
	return true
}

// hasRoom reports whether the log takes the frame with another operation that has so many bytes. What a
// frame has alone was in one before.
func (t *trimmer) hasRoom(d *draft, bytes int) bool {
	return d.Len() == 0 || d.Size()+bytes+opBytes <= t.cfg.Log.MaxMessage()
}

// restore undoes what add took from a portion, as its frame was not appended.
func (t *trimmer) restore(taken *portion, whole portion) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if taken != nil && taken == t.portion {
		*taken = whole
	}
}

// kept is called when the frame is in the log that raised begin. mu is held.
func (t *trimmer) kept() {
	t.advance(t.portion.begin)
	t.portion, t.under = nil, false
	if t.loose >= t.share(deleteBytes) && !t.deletes {
		t.deletes = true
		go t.deleteBefore(t.begin, t.loose)
	}
}

// deleteBefore deletes the frames before begin.
func (t *trimmer) deleteBefore(begin uint64, loose int64) {
	err := t.cfg.Log.Trim(t.writing, begin)
	t.mu.Lock()
	t.deletes = false
	if err == nil {
		t.loose -= loose
	}
	t.mu.Unlock()
	if err != nil {
		t.warn(err)
	}
}
