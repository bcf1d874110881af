package cores

import (
	"math/rand/v2"
	"slices"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// The context of an attempt ends when others change its timer, or end it by its token. What its handler itself does to
// its timer does not end it, but what others do after that does.

// own makes an operation that of a handler on its own key, now and then.
func (o *worker) own(op *core.Op, r *rand.Rand) {
	if n := len(o.attempts); n > 0 && r.IntN(4) == 0 {
		a := o.attempts[r.IntN(n)]
		if op.Key = slices.Clone(a.Key); a.Called && r.IntN(2) == 0 {
			op.By = a.Name
		}
	}
}

// committed records the operations of a call that were committed.
func (b *batch) committed(ops []core.Op, took []bool) {
	for i := range ops {
		if op := ops[i]; took[i] && op.Kind != frame.Pause && op.Kind != frame.Resume {
			b.changes = append(b.changes, op)
		}
	}
}

// ends reports whether the operations of a frame end the context of an attempt whose handler runs, or is about to be
// called. If one has ended the attempt, or its timer belongs to it no more, those after it change nothing.
func (b *batch) ends(a *core.Attempt) bool {
	if b.passed[a.ID] && !a.Called {
		return true
	}
	for _, op := range b.changes {
		switch {
		case op.Kind == frame.End && op.Ending.Name == a.Name:
			return !a.Left
		case op.Kind != frame.End && op.Kind != frame.Revive && string(op.Key) == string(a.Key) && op.By != a.Name:
			return true
		}
	}
	return false
}

// hasEnd reports whether a frame ends an attempt by its token. No later frame changes anything for the attempt.
func (b *batch) hasEnd(a *core.Attempt) bool {
	return slices.ContainsFunc(b.changes, func(op core.Op) bool { return op.Kind == frame.End && op.Ending.Name == a.Name })
}

// cancelled judges whose contexts end with a frame that was applied. What a handler returns whose attempt was left means
// nothing: the attempt goes on, and can end without it.
func (o *worker) cancelled(b *batch) {
	ended := make(map[*core.Attempt]bool)
	for _, a := range o.core.Gone {
		if ended[a] = true; !a.Left && !slices.Contains(o.attempts, a) {
			o.fail("context: that of attempt %d of %s ends, which is over", a.Number, a.Key)
		}
	}
	for _, a := range o.attempts {
		if a == o.meanwhile && b.passed[a.ID] {
			o.fail("attempt: %d of %s begins while the end of the one before is on its way", a.Number, a.Key)
		}
		was := o.gone[a]
		o.gone[a] = was || !o.settled[a] && b.ends(a)
		o.settled[a] = o.settled[a] || b.hasEnd(a)
		if is := was || ended[a]; is != o.gone[a] {
			o.fail("context: that of attempt %d of %s has ended: %v, and should have: %v", a.Number, a.Key, is, o.gone[a])
		}
	}
}
