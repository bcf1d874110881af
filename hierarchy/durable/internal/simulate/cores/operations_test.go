package cores

import (
	"fmt"
	"strings"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// What operations mean whose answers, or whose effects, depend on the timer that is there.

// holds reports whether the condition of a Set holds for a timer that is not dead. If the new timer and the next attempt
// are both due by now, or a wall clock that has shown the due time was set back, it depends on what the owner has in
// hand, so what it says is right.
func (m *model) holds(b *batch, op *core.Op, e entry, took bool) bool {
	due, until := op.Due, e.due
	if op.Kind == frame.SetAt {
		due += b.now - b.wall
	}
	if e.wall {
		until += b.now - b.wall
	}
	if e.next != 0 {
		until = e.next
	}
	if e.left != 0 {
		until = min(e.due, b.now)
	}
	conditional := op.If == core.IfSooner || op.If == core.IfLater
	switch {
	case conditional && due <= b.now && (until <= b.now || e.due <= b.now),
		conditional && e.wall && e.next == 0 && e.due > b.wall && e.due <= b.latest:
		return took
	case op.If == core.IfSooner:
		return due < until
	case op.If == core.IfLater:
		return due > until
	}
	return op.If == core.Always
}

// set returns the timer that a Set makes.
func (m *model) set(b *batch, k *call, op *core.Op, e entry, live bool) entry {
	next := entry{value: string(op.Value), due: op.Due, wall: op.Kind == frame.SetAt}
	next.Trace, next.Schedule, next.Paused = string(op.Trace), string(op.Schedule), len(op.Schedule) > 0 && live && e.Paused
	if p := m.plan(next.Schedule); p.ok {
		next.due = p.next(k.wall)
	}
	if op.Longest == 0 {
		return next
	}
	called := k.begun + int64(op.In)
	next.Debounced, next.Since = true, called
	if live && e.Debounced && e.attempt == 0 && b.attempts[e.id] == nil {
		next.Since = e.Since
	}
	next.due = min(called+int64(op.Quiet), next.Since+int64(op.Longest))
	return next
}

// end ends an attempt by its token. It reports whether that names an attempt that goes on.
func (m *model) end(b *batch, key string, by *core.Ending, e entry, live, took bool) bool {
	a := b.attempts[e.id]
	here := a != nil && a.Name == by.Name && a.Number == by.Attempt && b.tokens[by.Name]
	over, unsure := e.over || b.elapsed[e.id].over, e.unsure || b.elapsed[e.id].unsure
	over = over || b.replaced // else it would write the end
	gone := a == nil && e.left == by.Name && e.attempt == by.Attempt && !over && (!unsure || took)
	if !live || m.over[by.Name] || !here && !gone {
		return false
	}
	m.over[by.Name] = true
	b.passed[e.id] = b.passed[e.id] || gone
	r := &result{number: by.Attempt, kind: failed, wait: backoff, again: by.How == core.Postpone, text: by.Text}
	switch by.How {
	case core.Done:
		m.succeeded(b, key, e)
		return true
	case core.Finally:
		r.kind = died
	case core.Retry, core.Postpone:
		r.wait = by.In
	}
	if !r.again && int(r.number) >= coreConfig.MaxAttempts {
		r.kind = died
	}
	m.failed(b, key, e, r)
	return true
}

// returns reports whether an operation returns something.
func returns(op *core.Op, took bool) bool {
	if op.If != core.Always {
		return op.Whole && !took
	}
	return took && (op.Whole || op.Kind == frame.Remove)
}

// returned returns what an operation returns that has found a timer, or none.
func (m *model) returned(b *batch, op *core.Op, e entry, ok bool) string {
	switch {
	case !op.Whole:
		return e.value
	case op.Kind == frame.Move, op.Kind == frame.MoveAt, op.Kind == frame.Revive:
		return e.value + " " + e.Schedule
	case !ok, e.dead && op.Kind != frame.Remove:
		return "none"
	}
	if was, ok := b.before[e.id]; ok { // the attempt that the frame begins does not count yet
		was.Paused = e.Paused
		e = was
	}
	attempt, taken := e.attempt, op.If == core.Always
	if a := b.attempts[e.id]; a != nil && !m.over[a.Name] && (b.called[e.id] || !taken) {
		attempt = a.Number
	} else if e.begun && taken { // its handler was not called
		attempt--
	}
	return described(e.value, e.due, e.wall, e.dead, attempt, e.Extra)
}

func described(value string, due int64, wall, dead bool, attempt uint32, more state.Extra) string {
	return fmt.Sprintf("%s due %d, wall %v, dead %v, attempt %d, %+v", value, due-begin, wall, dead, attempt, more)
}

// texts returns what the operations of a part have returned.
func (k *call) texts(part int) []string {
	ops, from, values := k.part(part)
	texts := []string{}
	for i := range ops {
		op := &ops[i]
		if !returns(op, k.Took[from+i]) || len(values) == 0 {
			continue
		}
		value := values[0]
		values = values[1:]
		if op.Whole {
			value = whole(op, value)
		}
		texts = append(texts, value)
	}
	return append(texts, values...)
}

// whole returns what a timer that an operation has returned is.
func whole(op *core.Op, value string) string {
	t, ok := core.Was(value)
	switch {
	case !ok:
		return "none"
	case op.Kind == frame.Move, op.Kind == frame.MoveAt, op.Kind == frame.Revive:
		return t.Value + " " + t.Schedule
	}
	return described(t.Value, t.Due, t.Wall, t.Dead, t.Attempt, t.Extra)
}

// token names an attempt that any caller can end.
type token struct {
	key    string
	of     uint64 // the name of the attempt
	number uint32
}

// hasToken reports whether an attempt has a token, and goes on.
func (o *worker) hasToken(a *core.Attempt) bool {
	for _, b := range o.core.WithToken(true) {
		if a == b {
			return !a.Over
		}
	}
	return false
}

// busyWithout reports whether attempts are beginning, or are in progress, that have no tokens.
func (o *worker) busyWithout() bool {
	n := 0
	for _, a := range o.attempts {
		if o.hasToken(a) && o.busy[a.ID] {
			n++
		}
	}
	return len(o.busy) > n
}

// note records, for the model, which attempts are in progress when a frame is made.
func (b *batch) note(o *worker) {
	b.latest = o.now + int64(o.most)
	b.attempts, b.called = make(map[frame.ID]*core.Attempt), make(map[frame.ID]bool)
	b.tokens, b.before = make(map[uint64]bool), make(map[frame.ID]entry)
	b.paused, b.passed, b.elapsed = make(map[frame.ID]bool), make(map[frame.ID]bool), make(map[frame.ID]entry)
	for id, a := range o.started {
		b.attempts[id], b.called[id], b.tokens[a.Name] = a, a.Called, o.hasToken(a)
	}
}

func (k *call) String() string {
	var s strings.Builder
	if k.of != nil {
		fmt.Fprintf(&s, "request %d.%d, floor %d:", k.Request.Caller, k.Request.Serial-uint64(begin), k.Request.Floor-uint64(begin))
	}
	for _, op := range k.Ops {
		fmt.Fprintf(&s, " %v %s %s", op.Kind, op.Key, op.Value)
	}
	return s.String()
}
