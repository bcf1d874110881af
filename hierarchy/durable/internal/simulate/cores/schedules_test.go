package cores

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
	"github.com/epicycle-go/epicycle/hierarchy/schedule"
)

// A timer with a schedule has one run after the other. The model finds the runs one by one: none of them is left out or
// made twice, apart from what the rule for missed runs says.

// someSchedule returns the text of a schedule, which ends soon. A few can't be read, or have no run.
func (w *world) someSchedule(r *rand.Rand) []byte {
	if r.IntN(30) == 0 {
		return []byte("now and then")
	}
	until := time.Unix(0, w.now).Add(time.Duration(r.IntN(80)-3) * time.Second)
	rule := [...]string{"", "MISSED=once ", "MISSED=skip ", "MISSED=all "}[r.IntN(4)]
	runs := [...]string{"@every 7s", "@every 20s", "*/5 * * * * *", "3,4,30 * * * * *"}[r.IntN(4)]
	return fmt.Appendf(nil, "%sUNTIL=%s %s", rule, until.UTC().Format(time.RFC3339), runs)
}

// scheduled is how many keys have timers with schedules.
const scheduled = 4

// someScheduled returns one of these keys.
func someScheduled(r *rand.Rand) []byte { return fmt.Append(nil, "k", r.IntN(scheduled)) }

// plan is a schedule as its runs.
type plan struct {
	schedule.Schedule
	ok bool
}

// plan returns the schedule with that text. It is not ok if the text is empty, or can't be read.
func (m *model) plan(text string) plan {
	p, known := m.plans[text]
	if !known {
		s, err := schedule.Parse(text)
		p = plan{s, err == nil}
		m.plans[text] = p
	}
	return p
}

// next returns the first run after a wall time, or 0.
func (p plan) next(after int64) int64 {
	at := p.Next(time.Unix(0, after))
	if at.IsZero() {
		return 0
	}
	return at.UnixNano()
}

// hasNoRun reports whether one of the operations of a call has a schedule that can't be read, or has no run.
func (m *model) hasNoRun(k *call, ops []core.Op) bool {
	for i := range ops {
		if text := string(ops[i].Schedule); text != "" {
			if p := m.plan(text); !p.ok || p.next(k.wall) == 0 {
				return true
			}
		}
	}
	return false
}

// asWall returns when a timer is due, in wall time.
func (b *batch) asWall(e entry) int64 {
	if e.wall {
		return e.due
	}
	return e.due + b.wall - b.now
}

// goesOn ends a run, and sets the next one. It reports false if there is none.
func (m *model) goesOn(b *batch, key string, e entry, how frame.How, why string) bool {
	p := m.plan(e.Schedule)
	if !p.ok {
		return false
	}
	next := p.next(b.asWall(e))
	for p.Missed() == schedule.MissedSkip && next != 0 && next <= b.wall {
		next = p.next(next)
	}
	if next == 0 {
		return false
	}
	run := entry{value: e.value, due: next, wall: true, Extra: e.Extra}
	run.Missed, run.Started = 0, false
	switch how {
	case frame.Returned:
		run.LastError, run.Failed = "", 0
	case frame.Died:
		run.LastError, run.Failed = why, m.time
	}
	m.timers[key] = run
	return true
}

// succeeded ends a timer, or a run.
func (m *model) succeeded(b *batch, key string, e entry) {
	if !m.goesOn(b, key, e, frame.Returned, "") {
		delete(m.timers, key)
	}
}

// starts applies the rule for missed runs to a run, before its first attempt. It reports whether the run begins.
func (m *model) starts(b *batch, key string, e *entry) bool {
	p := m.plan(e.Schedule)
	if !p.ok || e.Started || p.Missed() == schedule.MissedAll {
		return true
	}
	due := b.asWall(*e)
	if p.Missed() == schedule.MissedSkip {
		if m.unattended(b, due) {
			if !m.goesOn(b, key, *e, frame.Skipped, "") {
				delete(m.timers, key)
			}
			return false
		}
	} else {
		for due = p.next(due); due != 0 && due <= b.wall; due = p.next(due) {
			e.due, e.wall = due, true
			e.Missed++
		}
	}
	e.Started = true
	return true
}

// gap is a time without an owner, as far as the log shows: from a frame to a takeover.
type gap struct {
	number   uint64 // of the frame
	from, to int64
}

// unattended reports whether a log had no owner at a time, before the present one or an earlier one. What is before the
// frames that the present owner has read is not known to it.
func (m *model) unattended(b *batch, at int64) bool {
	for i, g := range m.gaps {
		known := g.number > 0 && g.number >= b.begin
		if known && g.from < at && at < g.to || i == len(m.gaps)-1 && g.from < at && at < b.owned {
			return true
		}
	}
	return false
}

// isStarted reports whether the log has the start of a run whose attempt begins, if it must have one.
func (m *model) isStarted(e entry) bool {
	p := m.plan(e.Schedule)
	return !p.ok || e.Started == (p.Missed() != schedule.MissedAll)
}

// moved returns what a timer has in addition that was moved or revived. It is as if no attempt had failed.
func moved(e state.Extra) state.Extra {
	return state.Extra{Schedule: e.Schedule, Trace: e.Trace, Missed: e.Missed, Paused: e.Paused}
}

// read records of which attempts a frame has the begin.
func (b *batch) read(f *frame.Frame) {
	if len(b.items) == 0 {
		return
	}
	b.written = make(map[uint64]bool)
	for op, err := range f.Ops() {
		if err == nil && op.Kind == frame.Begin {
			b.written[op.ID.Number] = true
		}
	}
}
