package simulate

import (
	"slices"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// logged is what the judge knows of the frames of a log that were sent.
type logged struct {
	sent   map[uint32]sent // by their checksums
	begins map[begin]bool
	frames []frame.Frame    // in the order in which they were sent first
	dues   map[uint64]int64 // when runs are due, by the numbers of their IDs
	closes []uint64         // the epochs of owners that have closed it
	epochs []uint64         // of owners that have tried to take it over
}

// sent is a frame that was sent.
type sent struct {
	number uint64
	time   int64
}

// begin is the begin of an attempt that an owner has written.
type begin struct{ epoch, id uint64 }

// read records what a frame has.
func (l *logged) read(f *frame.Frame) {
	l.frames = append(l.frames, *f)
	if f.Epoch == f.Number {
		l.epochs = append(l.epochs, f.Epoch)
	}
	for op, err := range f.Ops() {
		switch {
		case err != nil:
			return
		case op.Kind == frame.Close:
			l.closes = append(l.closes, f.Epoch)
		case op.Kind == frame.Begin:
			l.begins[begin{f.Epoch, op.ID.Number}] = true
		}
	}
}

// begunBefore reports whether an earlier owner has written that an attempt of the timer begins. Such timers may be tried
// alone.
func (l *logged) begunBefore(f *firing) bool {
	for b := range l.begins {
		if b.id == f.ID.Number && b.epoch < f.Epoch {
			return true
		}
	}
	return false
}

// changedHands reports whether the owner of a frame may be another one than that of an epoch before.
func (l *logged) changedHands(epoch, number uint64) bool {
	return slices.ContainsFunc(l.epochs, func(e uint64) bool { return e > epoch && e <= number })
}

// checkWritten checks the first attempt of an owner, after one that did not end because an earlier owner was killed. It may
// have killed that one, so it is in the log before the handler is called, unless the timer was not due at the takeover.
func (w *world) checkWritten(t *timer, last, f *firing) {
	l, own := &w.logs[f.Partition], w.takeovers[f.Partition]
	then, ok1 := own[last.Epoch]
	now, ok2 := own[f.Epoch]
	if !ok1 || !ok2 || w.announces() || t.in == 0 || f.Epoch <= last.Epoch || last.done || f.over || last.over {
		return
	}
	for _, epoch := range l.closes {
		if epoch >= last.Epoch && epoch < f.Epoch {
			return
		}
	}
	due := then.own + int64(float64(last.at.Sub(then.at))*last.clock.rate)
	if due < now.own && !l.begins[begin{f.Epoch, f.ID.Number}] {
		w.wrong("unwritten: attempt %d of %q by owner %d, after owner %d was killed in one", f.Attempt, f.Key, f.Epoch, last.Epoch)
	}
}
