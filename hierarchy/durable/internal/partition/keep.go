package partition

import (
	"fmt"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/journal"
)

// How trimming writes again what is live in the oldest frames, and deletes these.

// addKeeps adds timers of the portion to the frame, which must be empty, and raises its begin when
// all are there. It is true then. mu is held.
func (p *Partition) addKeeps(d *draft, ops, bytes int) bool {
	found := p.trims.portion
	if found == nil {
		return false
	}
	most := min(bytes, p.cfg.Log.MaxMessage()/2)
	for len(found.timers) > 0 {
		if d.Len() >= ops || d.Size() >= most {
			return false
		}
		if h := found.timers[0]; p.state.HasHome(h.ref, h.home) {
			var op frame.Op
			op, p.room = p.state.Keep(h.ref, d.now, p.room[:0])
			if p.tooLarge(&op) || !p.hasRoom(d, len(op.Key)+len(op.Value)) {
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
		if r := found.requests[0]; p.state.AnswerHome(r.id, r.home) {
			op := p.state.KeepAnswer(r.id)
			if p.tooLarge(&op) || !p.hasRoom(d, len(op.Answers)) {
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
func (p *Partition) tooLarge(op *frame.Op) bool {
	bytes := len(op.Key) + len(op.Value) + len(op.Answers)
	if bytes+opBytes <= p.cfg.Log.MaxMessage()-frame.Overhead {
		return false
	}
	p.trims.portion = nil
	key := string(op.Key) // op has the memory of the next one, too
	go p.trimFailed(fmt.Errorf("%w: a %v of %q, of %d bytes", journal.ErrTooLarge, op.Kind, key, bytes))
	return true
}

// hasRoom tells whether the log takes the frame with another operation that has so many bytes. What a
// frame has alone was in one before.
func (p *Partition) hasRoom(d *draft, bytes int) bool {
	return d.Len() == 0 || d.Size()+bytes+opBytes <= p.cfg.Log.MaxMessage()
}

// kept is called when the frame is in the log that raised begin. mu is held.
func (p *Partition) kept() {
	t := &p.trims
	t.advance(t.portion.begin)
	t.portion, t.under = nil, false
	if t.loose >= p.share(deleteBytes) && !t.deletes {
		t.deletes = true
		go p.deleteBefore(t.begin, t.loose)
	}
}

// deleteBefore deletes the frames before begin.
func (p *Partition) deleteBefore(begin uint64, loose int64) {
	err := p.cfg.Log.Trim(p.writing, begin)
	p.mu.Lock()
	p.trims.deletes = false
	if err == nil {
		p.trims.loose -= loose
	}
	p.mu.Unlock()
	if err != nil {
		p.warnTrim(err)
	}
}
