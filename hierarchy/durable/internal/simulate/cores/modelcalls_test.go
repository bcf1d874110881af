package cores

import (
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// call carries a call out, and decides what its answer is.
func (m *model) call(b *batch, k *call) {
	k.known = true
	if k.of == nil {
		k.expected = m.commit(b, k)
		return
	}
	id := state.Request{Caller: k.Request.Caller, Serial: k.Request.Serial}
	if errors.Is(k.err, core.ErrPassed) && id.Serial < m.latest[id.Caller] {
		k.expected = k.err.Error()
		return
	}
	if answer, ok := m.requests[id]; ok {
		k.expected = answer
		return
	}
	if id.Serial < m.floors[id.Caller] {
		m.w.fail("floor: a request that was given up is committed: %v", k)
	}
	if id.Serial < m.latest[id.Caller] && m.remembers(k) {
		m.w.fail("passed: %v is committed, and the latest is %d", k, m.latest[id.Caller])
	}
	k.expected = m.commit(b, k)
	m.requests[id] = k.expected
	m.floors[id.Caller] = max(m.floors[id.Caller], k.Request.Floor)
	m.latest[id.Caller] = max(m.latest[id.Caller], id.Serial)
	m.seen[id.Caller], m.kept[id.Caller] = m.time, m.time
}

// refused judges the refusal of a call, which is not in the frame. The model does not know yet what is in the frame
// before it, and nobody does whether that will be in the log, so a request has not been passed by that.
func (m *model) refused(b *batch, k *call, err error) {
	floor, latest := uint64(0), uint64(0)
	if k.of != nil {
		floor, latest = m.floors[k.Request.Caller], m.latest[k.Request.Caller]
	}
	for _, it := range b.items {
		if c := it.call; c != nil && k.of != nil && c.Request.Caller == k.Request.Caller {
			floor = max(floor, c.Request.Floor)
		}
	}
	stale := b.by.lapsed
	switch {
	case errors.Is(err, core.ErrFull), stale, errors.Is(err, core.ErrSchedule) && m.hasNoRun(k, k.Ops):
	case errors.Is(err, core.ErrForgotten):
		if k.Request.Serial >= floor {
			m.w.fail("floor: %v is forgotten, and the floor is %d", k, floor)
		}
	case k.of != nil && k.Request.Serial < floor && m.remembers(k):
		m.w.fail("floor: %v is below it, and not forgotten but: %v", k, err)
	case errors.Is(err, core.ErrPassed):
		if k.Request.Serial >= latest {
			m.w.fail("passed: %v, and the latest is %d", k, latest)
		}
	case errors.Is(err, core.ErrOld):
		if m.remembers(k) {
			m.w.fail("old: %v, although its caller is remembered", k)
		}
	case errors.Is(err, core.ErrTooLarge) && k.of != nil && m.w.checkSize(k) != nil:
		if _, ok := m.requests[state.Request{Caller: k.Request.Caller, Serial: k.Request.Serial}]; ok {
			m.w.fail("size: %v is too large, although the log has it", k)
		}
	default:
		m.w.fail("answer: %v to %v", err, k)
	}
}

// takenOver lets callers be remembered by the clock of another owner, unless the last one has forgotten them.
func (m *model) takenOver(before int64) {
	m.unseen()
	for caller, at := range m.seen {
		delete(m.kept, caller)
		if at > before-int64(remember) {
			m.kept[caller] = m.time
		}
	}
}

// remembers reports whether the caller of k is remembered.
func (m *model) remembers(k *call) bool {
	at, ok := m.kept[k.Request.Caller]
	return ok && m.time-at < int64(remember)
}

// commit carries out a call part by part, and returns the answer.
func (m *model) commit(b *batch, k *call) string {
	texts := []string{}
	for i := range max(1, len(k.Parts)) {
		texts = append(texts, m.commitPart(b, k, i))
	}
	if len(k.Parts) == 0 && !strings.HasPrefix(texts[0], "[") {
		return texts[0]
	}
	return fmt.Sprint(texts)
}

// commitPart carries out all operations of a part, or none, and returns its answer.
func (m *model) commitPart(b *batch, k *call, part int) string {
	ops, from, _ := k.part(part)
	lacks := len(ops) > 1 && m.mayLack(b, k, ops)
	if m.isLater(b, k, part, ops) {
		return core.ErrLater.Error()
	}
	if m.hasNoRun(k, ops) {
		return core.ErrSchedule.Error()
	}
	was, paused, counts := maps.Clone(m.timers), maps.Clone(b.paused), b.by.counts
	pending := m.pending()
	var took []bool
	values := []string{}
	for i := range ops {
		op := &ops[i]
		e, ok := m.timers[string(op.Key)]
		t := m.do(b, k, from+i, e, ok)
		if took = append(took, t); returns(op, t) {
			values = append(values, m.returned(b, op, e, ok))
		}
	}
	if n := m.pending(); n > pending && n > m.w.config().MaxPending {
		m.timers, b.paused, b.by.counts = was, paused, counts
		return core.ErrFull.Error()
	}
	b.committed(ops, took)
	return fmt.Sprint(took, m.cut(lacks, k, part, values))
}
