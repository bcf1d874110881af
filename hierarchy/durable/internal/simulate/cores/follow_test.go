package cores

import (
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/core"
	"github.com/epicycle-go/epicycle/hierarchy/durable/internal/state"
)

// A process follows the log before it takes it over, now and then, while the owner trims it.

// follow reads on, and judges that what was read is what the log means.
func (o *worker) follow() {
	if o.follower == nil {
		o.follower = core.New(o.config())
	}
	if !o.read(o.follower) {
		return
	}
	o.Add("%v has read the log up to frame %d", o, o.follower.Head.Number)
	s, n := o.follower.State, 0
	s.Walk(1, s.Records(), func(ref state.Ref, t state.Timer) bool {
		n++
		o.model.compare(t, nil)
		if left := o.model.timers[t.Key].left; t.Running != (left != 0) || s.Left(ref) != left {
			o.fail("state: attempt %d of %+v was left, and should be: %d", s.Left(ref), t, left)
		}
		return true
	})
	if n != len(o.model.timers) {
		o.fail("state: %d timers instead of %v", n, o.model)
	}
}

// forget discards what a follower has read, as the log begins later by now.
func (o *worker) forget(c *core.Owner) {
	last := c.Head.Time
	c.Forget()
	c.State.Advance(last)
	c.State.Build()
}
