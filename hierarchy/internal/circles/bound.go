package circles

import "github.com/epicycle-go/epicycle/level"

// Bound is a time before which no timer is due. Next has answered at, which may be when the
// hand comes to a slot, long before the first timer in it is due. Bound looks at the timers of
// that slot if they are at most limit, and nothing must be poured ahead.
func (c *Circles) Bound(at int64, limit int) int64 {
	if _, _, crowd := c.nextCrowd(); crowd || len(c.queues) > 0 || c.next != nil || c.open != 0 || c.active != 0 || c.occupied == 0 {
		return at
	}
	k, s, start := c.first()
	l := &c.circle[k]
	if l.Len(s) > limit {
		return at
	}
	bound := c.layout.SlotEnd(k, start) // a timer that has moved later may be due after that
	l.Each(&c.arena, s, func(_ uint32, n *level.Node) { bound = min(bound, n.Key) })
	return max(at, bound)
}
