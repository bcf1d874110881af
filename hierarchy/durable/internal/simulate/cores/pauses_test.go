package cores

import (
	"fmt"
	"math/rand/v2"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// No attempt of a paused timer begins, but one that has begun goes on.

// somePause makes an operation a Pause or a Resume instead, now and then.
func somePause(op *core.Op, r *rand.Rand) {
	if r.IntN(5) == 0 {
		*op = core.Op{Kind: []frame.Kind{frame.Pause, frame.Resume}[r.IntN(2)], Key: someScheduled(r)}
	}
}

// resumed adds the Resume of what the last operation has paused, now and then.
func resumed(ops []core.Op, r *rand.Rand) []core.Op {
	if last := ops[len(ops)-1]; last.Kind == frame.Pause && r.IntN(3) == 0 {
		ops = append(ops, core.Op{Kind: frame.Resume, Key: last.Key})
	}
	return ops
}

// pauses carries out a Pause or a Resume. It reports whether the timer has a schedule.
func (m *model) pauses(b *batch, op *core.Op, e entry, live bool) bool {
	key := string(op.Key)
	switch {
	case !live || e.Schedule == "":
		return false
	case op.Kind == frame.Pause:
		// One that was left can be ended until the next attempt begins, but not in this frame if it is over.
		b.elapsed[e.id] = e
		e.Paused, e.over, e.unsure = true, false, false
		b.paused[e.id] = true
	case e.Paused && !b.isInProgress(e) && b.isOver(e):
		m.leavesOut(b, op, e)
		return true
	default:
		e.Paused = false
	}
	m.timers[key] = e
	return true
}

// leavesOut goes on after a pause with the first run that is still to come. The timer is removed if there is none.
func (m *model) leavesOut(b *batch, op *core.Op, e entry) {
	key := string(op.Key)
	p := m.plan(e.Schedule)
	next := p.next(b.asWall(e))
	for next != 0 && next <= b.wall {
		next = p.next(next)
	}
	if next == 0 {
		delete(m.timers, key)
		b.by.counts.Removed++
		b.changes = append(b.changes, core.Op{Kind: frame.Remove, Key: op.Key, By: op.By})
		return
	}
	run := entry{value: e.value, due: next, wall: true, Extra: e.Extra}
	run.Paused, run.Missed, run.Started = false, 0, false
	m.timers[key] = run
	b.passed[e.id] = true
}

// isInProgress reports whether an attempt of a timer is in progress, or is about to begin as the log says.
func (b *batch) isInProgress(e entry) bool { return e.begun || b.attempts[e.id] != nil }

// isOver reports whether the time has passed that a timer waits for.
func (b *batch) isOver(e entry) bool {
	switch {
	case e.next != 0:
		return e.next <= b.now
	case e.wall:
		return e.due <= b.wall
	}
	return e.due <= b.now
}

// resumeAll requests that no timer is paused any more.
func (w *world) resumeAll(o *worker) {
	var ops []core.Op
	for i := range w.keys() {
		ops = append(ops, core.Op{Kind: frame.Resume, Key: fmt.Append(nil, "k", i)})
	}
	w.callers[0].send(o, nil, ops)
}

// beginsPaused judges that an attempt which begins is none of a paused timer.
func (m *model) beginsPaused(o *worker, j *core.Job) {
	e := m.timers[string(o.core.State.Timer(j.Ref).Key)]
	if o.core.Epoch == m.epoch && e.id == j.ID && e.Paused && !e.begun {
		m.w.fail("paused: attempt %d begins of %+v", j.Number, e)
	}
}
