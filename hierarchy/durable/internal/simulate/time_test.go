package simulate

import (
	"bytes"
	"slices"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// ownTime is what the judge knows of the time of an owner: it begins at the wall time at which the log was looked at before
// the takeover, or at the time of the last frame, but at most maxSkew ahead of the wall clock. Then it is what the clock of
// the timers counts. Frames have it, unless that of the frame before is later.
type ownTime struct {
	owner    uint64 // the random number of the takeover
	begins   int64  // the owner's time less what its clock has counted
	previous uint32 // what the last frame follows
	// wall and elapsed were the clocks when the log was looked at last.
	wall, elapsed int64
	looked        time.Time // when that was
	owned         int64     // the wall time of the takeover at the latest
	off           bool      // the wall clock was off from then until the takeover was sent
	unknown       bool      // the clocks have changed between, and no frame has shown yet which of them counts
}

// look records the clocks. After that, a process may wait for the servers' time before it appends its takeover.
func (t *ownTime) look(p *worker) {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	t.wall, t.elapsed, t.looked = p.clock.Now().UnixNano(), int64(p.clock.Elapsed()), time.Now()
}

// judge checks the time of a frame when it is first sent. A frame that strangers' messages have passed is sent again later, and
// one may have waited for the room that a deletion makes, as trimmedWithin says.
func (t *ownTime) judge(p *worker, data []byte, trimmedWithin func(time.Duration) bool) {
	f, err := frame.Parse(bytes.Clone(data))
	w := p.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		w.wrong("time: a frame can't be read: %v", err)
		return
	}
	l := &w.logs[f.Partition]
	if l.sent[f.Checksum].number == f.Number { // two of so many frames have the same checksum now and then
		return
	}
	l.sent[f.Checksum] = sent{f.Number, f.Time}
	l.read(&f)
	before := l.sent[f.Previous].time
	again := t.owner == f.Owner && t.previous == f.Previous
	elapsed := int64(p.clock.Elapsed())
	if f.Epoch == f.Number && !again { // after each frame that others have written, the takeover begins anew
		t.off, t.unknown = p.clock.wasOff(t.looked), p.clock.havePartedSince(t.looked)
		if t.owned = p.clock.Now().UnixNano(); t.unknown {
			t.owned = p.clock.latest().UnixNano()
		}
		t.owner, t.begins = f.Owner, max(t.wall, min(t.wall+int64(maxSkew), before))-t.elapsed
	}
	t.previous = f.Previous
	t.checkOps(p, &f)
	if t.unknown {
		if f.Time > before && !again {
			t.begins, t.unknown = f.Time-elapsed, false
		}
		return
	}
	want := max(before, t.begins+elapsed)
	waited := time.Duration(want-f.Time) + time.Millisecond
	if f.Time > want || f.Time < want && !again && !trimmedWithin(waited) {
		w.wrong("time: frame %d of owner %d of partition %d is %v ahead of the owner's time", f.Number, f.Epoch, f.Partition, time.Duration(f.Time-want))
	}
}

// checkOps checks the times in a frame that count from the owner's time, and from its wall clock.
func (t *ownTime) checkOps(p *worker, f *frame.Frame) {
	for op, err := range f.Ops() {
		if err != nil {
			return
		}
		if isRun(op) {
			t.checkRun(p, f, op)
		}
		if until, ok := p.tokens[op.Name]; ok && op.Kind == frame.Begin && !t.unknown {
			if late := time.Duration(op.Next-t.begins) - until; late.Abs() > time.Millisecond {
				p.w.wrong("token: the attempt of %q that is left goes on for %v too long", op.Key, late)
			}
		}
	}
}

// checkRun checks when a run of a schedule is due, after the one before. None is left out that is due after the wall time. An
// attempt that an owner has begun whose wall clock was ahead may end before its time.
func (t *ownTime) checkRun(p *worker, f *frame.Frame, op *frame.Op) {
	l, number := &p.w.logs[f.Partition], op.ID.Number
	if op.Kind == frame.Next {
		number = op.Ended
	}
	last := l.dues[number]
	if l.dues[op.ID.Number] = op.Due; op.Kind == frame.Resume { // it does not say which run it replaces
		return
	}
	if ahead := op.Due - int64(period) - max(p.clock.latest().UnixNano(), last); ahead > 0 {
		p.w.wrong("run: one of %q is left out that is due %v after the wall time", op.Key, time.Duration(ahead))
	}
	if op.How == frame.Skipped && last >= t.owned && !l.takenOverAfter(last, f.Owner) {
		p.w.wrong("run: one of %q is skipped that is due %v after the takeover", op.Key, time.Duration(last-t.owned))
	}
}

// takenOverAfter reports whether a time is before the takeover of another owner, by the time of its frame.
func (l *logged) takenOverAfter(at int64, owner uint64) bool {
	return slices.ContainsFunc(l.frames, func(f frame.Frame) bool {
		return f.Number == f.Epoch && f.Owner != owner && at < f.Time
	})
}

// isRun reports whether an operation says when the next run of a schedule is due.
func isRun(op *frame.Op) bool {
	return op.Kind == frame.SetAt && len(op.Schedule) > 0 || op.Kind == frame.Next || op.Moved
}
