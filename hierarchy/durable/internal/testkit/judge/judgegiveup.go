package judge

import (
	"slices"
	"strings"
)

// judgeGivenUp checks that a Set with an unknown result has no effect any more once a later operation of the same
// worker on its key was answered and has changed something. For judgeOrder the Set could be committed at any time.
// Each value is set only once, so it identifies its Set. The firings of the other keys are judged by judgeLife.
func (h *History) judgeGivenUp(r *Report) {
	keys := map[string][]*call{}
	for i := range h.calls {
		if c := &h.calls[i]; strings.HasPrefix(c.Key, SharedKeys) {
			keys[c.Key] = append(keys[c.Key], c)
		}
	}
	for _, calls := range keys {
		for i, given := range calls {
			if given.result() != Unknown || given.answer == nil || given.Op != OpSet && given.Op != OpSetAt {
				continue
			}
			later := slices.IndexFunc(calls[i:], func(c *call) bool { return c.replaces(given) })
			if later < 0 {
				continue
			}
			by := calls[i+later]
			for _, c := range calls {
				if c.Time > by.answer.Time && c.result() == Took && c.answer.OK && c.answer.Value == given.Value {
					r.broke(undone, "%s %q of worker %d, given up at %d, is seen at %d, after %s of %d was answered at %d",
						given.Key, given.Value, given.worker, given.answer.Time, c.Time, by.Op, by.Time, by.answer.Time)
					break
				}
			}
		}
	}
}

// replaces reports whether c was called by the same worker after another call was given up, and certainly replaced or
// removed what that call could have set.
func (c *call) replaces(given *call) bool {
	return c.worker == given.worker && c.Time > given.answer.Time && c.result() == Took &&
		(c.Op == OpSet || c.Op == OpSetAt || c.Op == OpRemove)
}
