package core

import (
	"fmt"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// Trimming keeps a log small: the timers and answers that are live in the oldest frames are written again, and these
// frames are deleted.

const (
	// keepOps is the largest number of timers that one frame with operations of callers writes again, and keepBytes is
	// about the largest number of their bytes.
	keepOps   = 500
	keepBytes = 256 << 10
	// trimFrames is the number of frames that are read at once.
	trimFrames = 16
	// deleteBytes is the number of bytes before begin at which these bytes are deleted. Deleting takes as long as some
	// hundred appends.
	deleteBytes = 1 << 20
)

// trims is what trimming needs in addition to the state.
type trims struct {
	span
	under   bool     // a portion is being read or written
	portion *Portion // the portion that must be written, or nil
	taken   *Portion // the portion at Start, and
	whole   Portion  // a copy of it, from before the frame took a part of it

	unread uint64 // the number of the frame at begin that could not be read
	tries  int    // the number of failed reads of the frame unread
}

// Portion holds the timers and answers that are live in the oldest frames.
type Portion struct {
	Begin uint64 // where the log may begin after all of live was written again
	most  int64  // the number of bytes with which it is full, or 0
	bytes int64  // about the number of those that live takes in the log
	live  []homed
	seen  map[homed]bool // the members of live, including those that were removed from it
}

// homed is a timer, or the answer of a request, that was last written in the frame home when it was looked at.
type homed struct {
	ref    state.Ref // 0 for an answer
	answer state.Request
	home   uint64
}

// add adds h, which takes so many bytes, to live, unless it was added before.
func (p *Portion) add(h homed, bytes int) {
	if !p.seen[h] {
		p.seen[h] = true
		p.live = append(p.live, h)
		p.bytes += int64(bytes)
	}
}

// IsFull reports whether the portion has as many timers and answers as a frame may have, or as the log has room for.
func (p *Portion) IsFull() bool { return len(p.live) >= MaxOps || p.most > 0 && p.bytes >= p.most }

// excess returns by how much the log is larger than its limit: about twice the keys and values, plus a constant. Frames
// are larger than the keys and values in them, by a quarter if these have 100 bytes, so the limit is 13/8 of the live
// data as frames.
func (o *Owner) excess() int64 {
	live := o.State.Bytes()
	return o.Total - (live + live*5/8 + o.above())
}

func (o *Owner) above() int64 { return o.share(o.TrimAbove) }

// share returns bytes, or less if the size of the log is limited. Trimming appends before it deletes, so it can't
// trim a full log. The log never gets full if at most half of the limit is live, and no request is larger than 1/32 of it:
// 26/32 of the limit are then allowed for the live data (see excess), twice 1/32 until callers wait for trimming, 1/32 for
// the last frame of theirs, and twice 1/32 for a portion that is written again while the frames that have it are still
// there, of which the last one may be as large as a portion. Callers get what a portion leaves of a frame.
func (o *Owner) share(bytes int64) int64 {
	if most := o.limits.Log; most > 0 {
		bytes = min(bytes, most/32)
	}
	return bytes
}

// TrimmingIsLate reports whether the log is so large that callers have to wait until a portion was read.
func (o *Owner) TrimmingIsLate() bool {
	return o.under && o.portion == nil && o.excess() > o.above()
}

// HasPortion reports whether a portion must be written.
func (o *Owner) HasPortion() bool { return o.portion != nil }

// Hurried reports whether callers write faster than trimming does. Then callers wait for frames that hold only timers
// and answers that trimming writes again, as many as fit.
func (o *Owner) Hurried() bool { return o.portion != nil && o.excess() > o.above()/2 }

// IsTrimmed reports whether the log is small enough, and no portion is being read or written.
func (o *Owner) IsTrimmed() bool { return !o.under && (o.excess() <= 0 || len(o.sizes) <= 1) }

// StartTrimming returns a new portion, and the end of the frames to be read for it, if the log is too large and no
// portion is being read or written. Otherwise it returns nil. Give or GiveUp must follow.
func (o *Owner) StartTrimming() (p *Portion, end uint64) {
	if o.IsTrimmed() || o.under {
		return nil, 0
	}
	o.under = true
	return &Portion{Begin: o.first, most: o.limits.Log / 32, seen: make(map[homed]bool)}, min(o.Head.Number, o.first+trimFrames)
}

// Give takes a portion that was read.
func (o *Owner) Give(p *Portion) {
	for o.sizes[p.Begin-o.first] == 0 { // the log has to begin at a frame
		p.Begin++
	}
	o.portion = p
}

// GiveUp is called when a portion can't be read or written.
func (o *Owner) GiveUp() { o.under = false }

// FindLive adds the timers and answers that are live in one frame to a portion.
func (o *Owner) FindLive(f *frame.Frame, found *Portion) error {
	for op, err := range f.Ops() {
		if err != nil {
			return err
		}
		switch op.Kind {
		case frame.Request:
			if id := (state.Request{Caller: op.Caller, Serial: op.Serial}); o.State.AnswerHome(id, f.Number) {
				found.add(homed{answer: id, home: f.Number}, keepSize(op))
			}
		case frame.Set, frame.SetAt, frame.Keep, frame.Import:
			if timer, ref, ok := o.State.Find(op.Key); ok && timer.Home == f.Number {
				found.add(homed{ref: ref, home: f.Number}, keepSize(op))
			}
		}
	}
	return nil
}

// Keep adds what trimming writes again to the frame, which must be empty: as much as fits if the frame has nothing else
// (alone), or little. If the frame has room for the whole portion, Keep raises the begin of the frame and reports true.
// After an error, the portion was given up: a part of it is too large for the log by now.
func (o *Owner) Keep(alone bool) (whole bool, err error) {
	ops, bytes := keepOps, keepBytes
	if alone {
		ops, bytes = MaxOps, FrameBytes
	}
	found := o.portion
	if found == nil {
		return false, nil
	}
	bytes = min(bytes, o.limits.Message/2)
	for len(found.live) > 0 {
		if o.Len() >= ops || o.Size() >= bytes {
			return false, nil
		}
		if op, ok := o.keep(found.live[0]); ok {
			size := keepSize(&op)
			if size > o.limits.Message-frame.Overhead {
				o.portion = nil
				return false, fmt.Errorf("a %v of %q, of %d bytes", op.Kind, op.Key, size-opBytes)
			}
			if o.Len() > 0 && o.Size()+size > o.limits.Message { // what a frame has alone fits, as it did before
				return false, nil
			}
			o.Add(&op)
		}
		found.live = found.live[1:]
	}
	o.Header().Begin = found.Begin
	return true, nil
}

// keep returns the operation that writes a timer or an answer again. ok is false if the timer or answer was removed, or
// was written again since.
func (o *Owner) keep(h homed) (op frame.Op, ok bool) {
	switch {
	case h.ref == 0 && o.State.AnswerHome(h.answer, h.home):
		return o.State.KeepAnswer(h.answer), true
	case h.ref != 0 && o.State.HasHome(h.ref, h.home):
		op, o.room = o.State.Keep(h.ref, o.room[:0])
		return op, true
	}
	return op, false
}

// keepSize returns an upper bound for the number of bytes that a timer or an answer takes in the log.
func keepSize(op *frame.Op) int {
	return len(op.Key) + len(op.Value) + len(op.Answers) + frame.MoreSize(op.Schedule, op.Trace, op.Error, op.Debounced) + opBytes
}

// Restore gives the frame up, which was not appended: it ends its claims, and puts back what Keep took from the portion.
func (o *Owner) Restore() {
	clear(o.claims)
	if o.taken != nil && o.taken == o.portion {
		*o.taken = o.whole
	}
}

// kept is called when the log begins at begin, which may be the begin of a portion that was written again.
func (o *Owner) kept(begin uint64) {
	o.advance(begin)
	if o.portion != nil && o.portion.Begin == begin {
		o.portion, o.under = nil, false
	}
}

// A frame that can't be read any more while its owner lives is no loss yet: what is live in it is also in memory. So
// the owner writes that again, and the log then begins after the frame.

// unreadTries is the number of failed reads after which a frame is passed over. One failure is not enough, since a
// server may have other reasons not to answer.
const unreadTries = 3

// PassesOver counts a failed read of the frame at the beginning of the log, and reports whether the frame should be
// passed over.
func (o *Owner) PassesOver(number uint64) bool {
	if o.unread != number {
		o.unread, o.tries = number, 0
	}
	o.tries++
	return o.tries >= unreadTries
}

// RecallAnswers adds the answers that, according to the state, are live in the frame at the begin of a portion.
func (o *Owner) RecallAnswers(p *Portion) {
	for _, id := range o.State.AnswersOf(p.Begin) {
		p.add(homed{answer: id, home: p.Begin}, 0)
	}
}

// Recall adds a timer to a portion if, according to the state, it is live in the frame at the portion's begin.
func (p *Portion) Recall(ref state.Ref, t *state.Timer) {
	if t.Home == p.Begin {
		p.add(homed{ref: ref, home: p.Begin}, 0)
	}
}
