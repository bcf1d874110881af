package cores

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/frame"
)

// The log of some worlds takes only small messages, and the limit changes. Then not all that waits has room in a frame,
// some values have none, and a frame may turn out to be too large.

const plenty = 1 << 20

// limitsOf returns how large a message, and the log, may be at first in the history of a seed.
func limitsOf(seed uint64) core.Limits {
	some := int(seed * 7919 % 1500)
	switch {
	case seed%3 > 0:
		return core.Limits{Message: plenty}
	case seed%2 > 0:
		return core.Limits{Message: 500 + some}
	}
	return core.Limits{Message: 400 + some%100, Log: small}
}

// limitChanges sets another limit, if it is small.
func (w *world) limitChanges(r *rand.Rand) {
	if w.message == plenty {
		return
	}
	was := w.message
	if w.message = 400 + r.IntN(1600); w.log.most > 0 {
		w.message = 400 + w.message%100
		w.logChanges(r)
	}
	w.lowered = w.lowered || w.message < was
	w.Add("messages have %d bytes at most", w.message)
}

// someValue returns a value, which takes much of a small message.
func (w *world) someValue(r *rand.Rand) []byte {
	value := fmt.Append(nil, "v", r.IntN(1000))
	switch {
	case w.log.most > 0:
		value = append(value, strings.Repeat("x", 200+r.IntN(40))...)
	case w.message < plenty:
		value = append(value, strings.Repeat("x", r.IntN(250))...)
	}
	return value
}

// someParts returns operations of one or several callers, and where those of each caller end, if they are several.
func someParts(o *worker, r *rand.Rand) (ops []core.Op, parts []core.Part) {
	ops = someOps(o, r)
	for r.IntN(4) == 0 {
		if parts == nil {
			parts = []core.Part{{End: len(ops)}}
		}
		ops = append(ops, someOps(o, r)...)
		parts = append(parts, core.Part{End: len(ops)})
	}
	return ops, parts
}

// checkSize returns an error for a call that is too large for a message.
func (w *world) checkSize(k *call) error {
	return core.CheckSize(len(k.Ops), k.Size(), w.message-frame.Overhead)
}

// fits judges that a frame is not larger than a message, unless it has a call that is.
func (o *worker) fits(b *batch, data []byte) {
	tooLarge := func(it item) bool { return it.call != nil && o.checkSize(it.call) != nil }
	if len(data) > o.message && !slices.ContainsFunc(b.items, tooLarge) {
		o.fail("message: a frame of %d operations has %d bytes", o.core.Len(), len(data))
	}
}

// smaller is called when a frame is larger than a message, as the limit is lower by now. It reports false if it is not. What
// has no room by itself is refused, and the rest is written later.
func (o *worker) smaller(b *batch, data []byte) bool {
	if len(data) <= o.message {
		return false
	}
	o.Add("%v makes smaller frames instead of one with %d bytes", o, len(data))
	o.core.Restore()
	var again []item
	for _, it := range b.items {
		if it.call == nil {
			again = append(again, it)
		} else if err := o.checkSize(it.call); err != nil && !it.call.InLog() {
			it.call.answered(err)
		} else {
			again = append(again, it)
		}
	}
	if o.queue = append(again, o.queue...); len(again) == len(b.items) && o.core.Len() == 1 {
		o.lose()
	}
	return true
}

// mayLack reports whether a frame may have had no room for what some operations return.
func (m *model) mayLack(b *batch, k *call, ops []core.Op) bool {
	size := 0
	for i := range ops {
		if op := &ops[i]; op.Whole || op.Kind == frame.Remove {
			e := m.timers[string(op.Key)]
			size += len(e.value) + len(e.Schedule) + len(e.Trace) + len(e.LastError) + 110
		}
	}
	return k.of != nil && size > 0 && len(b.data)+k.Size()+size > b.most
}

// isLater reports whether the operations of a part were not committed because what they return had no room.
func (m *model) isLater(b *batch, k *call, part int, ops []core.Op) bool {
	err := k.err
	if len(k.Parts) > 0 {
		err = k.Parts[part].Err
	}
	return errors.Is(err, core.ErrLater) && (part > 0 || len(ops) == 1) && m.mayLack(b, k, ops)
}

// cut leaves out the last values of several for which the frame had no room. A part after the first is not committed
// then, unless the size of the values was not known before: its own operations have set them, or there are none.
func (m *model) cut(lacks bool, k *call, part int, values []string) []string {
	got := k.texts(part)
	n := len(got)
	if !lacks || n >= len(values) || !slices.Equal(got, values[:n]) {
		return values
	}
	ops, _, _ := k.part(part)
	known := func(value string) bool { return value != "none" }
	if part > 0 && !changeOneTwice(ops) && slices.ContainsFunc(values[n:], known) {
		return values
	}
	return got
}

// changeOneTwice reports whether several of the operations are of the same key.
func changeOneTwice(ops []core.Op) bool {
	seen := make(map[string]bool)
	for i := range ops {
		seen[string(ops[i].Key)] = true
	}
	return len(seen) < len(ops)
}

// part returns the operations of a part, where they begin, and what they have returned.
func (k *call) part(i int) (ops []core.Op, from int, values []string) {
	if len(k.Parts) == 0 {
		return k.Ops, 0, k.Values
	}
	if i > 0 {
		from = k.Parts[i-1].End
	}
	ops = k.Ops[from:k.Parts[i].End]
	if len(ops) > 1 {
		return ops, from, frame.CutValues(nil, k.Parts[i].Value)
	}
	if returns(&ops[0], k.Took[from]) {
		values = []string{k.Parts[i].Value}
	}
	return ops, from, values
}

// partTexts returns the answers of the parts.
func (k *call) partTexts() (texts []string) {
	for i := range max(1, len(k.Parts)) {
		ops, from, _ := k.part(i)
		if len(k.Parts) > 0 && k.Parts[i].Err != nil {
			texts = append(texts, k.Parts[i].Err.Error())
			continue
		}
		texts = append(texts, fmt.Sprint(k.Took[from:from+len(ops)], k.texts(i)))
	}
	return texts
}
