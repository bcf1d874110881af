package cores

import (
	"math/rand/v2"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// An attempt that was left goes on until its time is over and the owner has seen that. Each owner sees it by itself, when it
// looks for what is due.

// elapsed is called when an owner has looked for what is due. What trimming has written again as due may be due a little
// later for an owner whose time begins before that of the log, so whether that one has seen it is not known.
func (m *model) elapsed(o *worker) {
	if o.core.Epoch != m.epoch {
		return
	}
	for key, e := range m.timers {
		if e.left != 0 && e.next <= o.time() {
			e.over, e.unsure = e.over || o.time() >= m.time, true
			m.timers[key] = e
		}
	}
}

// unseen is called when an owner takes over, which has seen nothing yet.
func (m *model) unseen() {
	for key, e := range m.timers {
		e.over, e.unsure = false, false
		m.timers[key] = e
	}
}

// compareLeft compares with the model which attempt of a timer was left.
func (o *worker) compareLeft(ref state.Ref, key string) {
	e := o.model.timers[key]
	if name := o.core.State.Left(ref); o.core.State.WasLeft(ref) != (e.left != 0) || name != 0 && (name != e.left || e.over) {
		o.fail("state: attempt %d of %s was left, and should be: %d, over %v", name, key, e.left, e.over)
	}
}

// someNumber returns the number of the attempt, or another one.
func (t *token) someNumber(r *rand.Rand) uint32 {
	if r.IntN(4) == 0 {
		return uint32(r.IntN(5))
	}
	return t.number
}
